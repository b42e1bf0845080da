/** Which release an assistant gets, and what it reads of the tables. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { type Served, servedOf } from "../../src/features/explore/mcp/served.ts"
import { type Described, tableDescription, tableLines } from "../../src/features/explore/mcp/tables.ts"
import type { CommandSettings } from "../../src/settings/settings.ts"
import { newFolder } from "../support/sluice.ts"

describe("the release of an assistant", () => {
  const root = newFolder()
  const target = (name: string, profile: string, formats = ["duckdb"]) => {
    mkdirSync(join(root, name), { recursive: true })
    writeFileSync(join(root, name, "crm.duckdb"), "")
    return { name, folder: join(root, name), profile, formats }
  }
  target("output/published", "raw")
  const [masked, other, files, raw, strict] = [
    target("masked", "analytics"),
    target("other", "analytics"),
    target("files", "analytics", ["csv"]),
    target("raw", "raw"),
    target("strict", "anonymous")
  ]
  const served = (
    targets: ReadonlyArray<object>,
    flags: { readonly target?: string; readonly profile?: string } = {}
  ) => {
    const output = { folder: join(root, "output"), publishing: { targets } } as unknown as CommandSettings
    return Effect.runPromise(
      servedOf(output, { target: flags.target, profile: flags.profile as Served["profile"] | undefined }).pipe(
        Effect.map(({ folder, profile }) => `${folder.slice(root.length + 1)} ${profile}`),
        Effect.catch(({ message }) => Effect.succeed(message))
      )
    )
  }

  it("is the masked release if it is the only one, and an unmasked one only if somebody asks for it", async () => {
    assert.strictEqual(await served([raw, masked, files, strict]), "masked analytics")
    assert.match(await served([masked, other]), /^Several targets have the profile analytics: masked, other/)
    assert.match(await served([raw, files]), /^No target of \[\[publish\]\] has the profile analytics/)
    assert.strictEqual(await served([masked, strict], { profile: "anonymous" }), "strict anonymous")
    assert.match(await served([masked], { profile: "anonymous" }), /^No target .* profile anonymous/)
    assert.strictEqual(await served([masked], { profile: "raw" }), "output/published raw")
    assert.strictEqual(await served([masked, other], { target: "other" }), "other analytics")
    assert.match(await served([raw], { target: "raw" }), /^The target raw has the profile raw, so it masks nothing/)
    assert.match(await served([masked], { target: "maskd" }), /did you mean masked/)
    assert.match(await served([masked], { target: "masked", profile: "analytics" }), /cannot both be given/)
    assert.match(await served([{ ...masked, folder: join(root, "nowhere") }]), /nothing was published there yet/)
  })
})

it("a table has its rows, its age, the worst class of its columns, and what is masked or refers to another", async () => {
  const column = (name: string) => ({ name, type: "VARCHAR", comment: `the ${name}` })
  const table = (schema: string, name: string, more: object = {}) => ({
    schema,
    name,
    kind: "table",
    comment: `${name} of the account`,
    rows: 9,
    columns: [column("id"), column("email")],
    ...more
  })
  const described = {
    tables: [
      table("main", "contacts", { deleted: 2 }),
      table("main", "contact_tags"),
      table("main", "contacts_changes", { kind: "view" }),
      table("main", "contacts_wide", { kind: "view", wide: { table: "contacts", columns: [] } }),
      table("crm_history", "contacts"),
      table("bi", "dim_contact"),
      table("bi", "stg_contacts", { kind: "view", isStaging: true }),
      table("meta", "contacts")
    ],
    dictionary: {
      columns: [
        { table: "contacts", column: "id", personal: "none" },
        { table: "contacts", column: "email", personal: "direct" },
        { table: "contact_tags", column: "id", personal: "none", refersTo: "contacts" }
      ],
      read: [{ resource: "contacts", at: "2026-01-01T00:00:00.000Z" }]
    },
    shown: { "contacts.email": "a pseudonym" }
  } as unknown as Described
  const catalogue = await discover()
  const names = (chosen: Parameters<typeof tableLines>[2]) =>
    tableLines(described, catalogue, chosen).map(({ name }) => name)
  assert.deepStrictEqual(names({}), ["contacts", "contact_tags", "contacts_wide", "bi.dim_contact"])
  assert.deepStrictEqual(names({ schema: "crm_history" }), ["crm_history.contacts"])
  assert.deepStrictEqual(names({ schema: "main" }), ["contacts", "contact_tags", "contacts_changes", "contacts_wide"])
  assert.deepStrictEqual(names({ search: "TAGS OF" }), ["contact_tags"])
  const of = (name: string) => {
    const { columns, ...line } = tableDescription(described, catalogue, name)
    return {
      ...line,
      columns: columns.map(
        ({ meaning, type, ...one }) => (
          assert.strictEqual(meaning, `the ${one.name}`),
          assert.strictEqual(type, "VARCHAR"),
          one
        )
      )
    }
  }
  const at = "2026-01-01T00:00:00.000Z"
  const contacts = {
    name: "contacts",
    about: "contacts of the account",
    rows: 9,
    deletedRows: 2,
    readAt: at,
    personalData: "direct" as const,
    columns: [
      { name: "id", personalData: "none" },
      { name: "email", personalData: "direct", shown: "a pseudonym" }
    ]
  }
  assert.deepStrictEqual(of("contacts"), contacts)
  assert.deepStrictEqual(of("main.contacts"), contacts)
  assert.deepStrictEqual(of("crm.contacts"), contacts)
  const { deletedRows: _, ...earlier } = contacts
  assert.deepStrictEqual(of("crm_history.contacts"), { ...earlier, name: "crm_history.contacts" })
  assert.deepStrictEqual(of("contact_tags"), {
    name: "contact_tags",
    about: "contact_tags of the account",
    rows: 9,
    readAt: at,
    personalData: "none",
    columns: [{ name: "id", personalData: "none", refersTo: "contacts" }, { name: "email" }]
  })
  // A wide table is as old and as masked as the table whose rows it shows.
  assert.deepInclude(of("contacts_wide"), {
    readAt: at,
    columns: [{ name: "id" }, { name: "email", shown: "a pseudonym" }]
  })
  // A model or a table of meta is another one, also with the same name.
  for (const name of ["bi.dim_contact", "meta.contacts"])
    assert.deepStrictEqual(Object.keys(of(name)), ["name", "about", "rows", "columns"])
  assert.throws(() => of("contcts"), /there is no such table; did you mean contacts\?/)
})
