/** The wide tables of crm.duckdb and of the files have, after each night, every value that the wide views of the warehouse have. */
import { assert, it } from "@effect/vitest"
import { readFileSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { openAlone } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { begin } from "../support/life.ts"

it(
  "a wide table equals its view after nights with changes, deletions, and new and renamed fields",
  { tags: ["slow"] },
  async () => {
    const tables = "locations,custom_fields,contacts,opportunities"
    const life = await begin(openAlone(tables, "--contacts", "300"))
    const published = join(life.account.output, "published")
    const manifest = () => JSON.parse(readFileSync(join(published, "manifest.json"), "utf8"))
    let nights = 0
    const night = async (flags = "") => {
      nights++
      const before = flags === "first" ? undefined : manifest().state.fullBytes
      await life.sync(flags === "first" ? "" : flags, 0, { SLUICE_FORMATS: "duckdb,parquet,csv" })
      for (const view of ["contacts_wide", "opportunities_wide"]) {
        const file = join(published, "parquet", view, "*.parquet")
        const own = `(FROM release${nights}.main.${view})`
        const expected = `(FROM crm.${view})`
        const differences = await life.ask(
          `ATTACH IF NOT EXISTS '${realpathSync(join(published, "crm.duckdb"))}' AS release${nights} (READ_ONLY);
         SELECT count(*)::INT AS n FROM (
           (FROM ${own} EXCEPT ALL FROM ${expected}) UNION ALL (FROM ${expected} EXCEPT ALL FROM ${own})
           UNION ALL (FROM read_parquet('${file}') EXCEPT ALL FROM ${expected}) UNION ALL (FROM ${expected} EXCEPT ALL FROM read_parquet('${file}')))`
        )
        assert.deepStrictEqual(differences, [{ n: 0 }], `${view} ${flags}`)
      }
      return before === manifest().state.fullBytes ? "updated" : "written anew"
    }
    const contacts = (await life.service.records("contacts")).map(({ id }) => String(id))
    const [field] = (await life.service.records("customFields")).filter(({ model }) => model === "contact")
    const give = (id: string | undefined, value: unknown, of = String(field!["id"])) =>
      life.edit("contacts", id, { customFields: [{ id: of, value }] })

    await night("first")
    const found = await query(
      join(published, "crm.duckdb"),
      "SELECT table_type AS kind FROM information_schema.tables WHERE table_name = 'contacts_wide'"
    )
    assert.deepStrictEqual(found, [{ kind: "BASE TABLE" }])

    await give(contacts[0], "one")
    await life.edit("contacts", contacts[1], { firstName: "Ada", customFields: [] })
    assert.strictEqual(await night(), "updated")

    for (const id of contacts.slice(2, 5)) await life.service.post("remove", { collection: "contacts", id })
    await give(contacts[5], null)
    await night("--again=lists")

    const fields = { model: "contact", dataType: "DATE", name: "Since", fieldKey: "contact.since", picklistOptions: [] }
    await life.service.post("plant", { collection: "customFields", like: field!["id"], id: "since", fields })
    await give(contacts[6], "2026-02-03", "since")
    await give(contacts[7], "no date", "since")
    assert.strictEqual(await night(), "written anew")

    await life.edit("customFields", "since", { name: "Member since", fieldKey: "contact.member_since" })
    await give(contacts[7], "2026-02-04", "since")
    await night()
    await give(contacts[0], "two")
    await life.service.post("plant", { collection: "contacts", like: contacts[0], id: "added", fields: {} })
    await night()
    const [added] = await query(join(published, "crm.duckdb"), "FROM contacts_wide_of(['added', 'none'])")
    assert.strictEqual(added!["id"], "added")
  }
)

it("a wide table has a row for each contact", async () => {
  const life = await begin(openAlone("custom_fields,contacts", "--contacts", "3"))
  await life.sync("", 0, { SLUICE_FORMATS: "duckdb" })
  const release = join(life.account.output, "published/crm.duckdb")
  const rows = await query(release, "SELECT id, first_name FROM contacts_wide ORDER BY id")
  assert.lengthOf(rows, 3)
  assert.deepStrictEqual(rows, await life.ask("SELECT id, first_name FROM crm.contacts ORDER BY id"))
})
