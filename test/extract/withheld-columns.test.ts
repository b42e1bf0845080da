/** Every field of every record holds a word of its own; the vault has those words only that the settings do not keep out. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import * as Redacted from "effect/Redacted"
import { createHmac, hkdfSync } from "node:crypto"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { neededColumns } from "../../src/catalog/needed-columns.ts"
import { placesOf as fieldPlacesOf } from "../../src/catalog/field-places.ts"
import { snakeCase, tablesOf } from "../../src/catalog/tables.ts"
import { withholderOf } from "../../src/catalog/withhold.ts"
import { withheldIn } from "../../src/catalog/withheld.ts"
import { columnHash } from "../../src/settings/column-hash.ts"
import type { PseudonymKey } from "../../src/settings/masking.ts"
import { type WithheldSettings, withholding } from "../../src/settings/withheld.ts"
import { withoutWithheld } from "../../src/stages/extract/withheld-columns.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { placesOf } from "../support/every-byte.ts"
import { newFolder } from "../support/sluice.ts"
import { type Owner, type Words, appendWorded, wordPattern } from "../support/worded.ts"

const catalogue = await discover()
const key: PseudonymKey = { id: "k1", master: Redacted.make(Buffer.alloc(32, 7)) }

type Settings = Partial<NonNullable<WithheldSettings["withheld"]>["personalData"]> & {
  readonly tables?: NonNullable<WithheldSettings["withheld"]>["tables"]
}
const with_ = ({ tables = [], ...personalData }: Settings) => {
  const defaults = { customFields: {}, excludeClasses: [], excludeCustomFields: [] }
  return withholding(
    {
      withheld: {
        tables,
        personalData: { ...defaults, ...personalData },
        placeOf: (path) => path,
        key: () => Result.succeed(key)
      }
    },
    catalogue
  )
}
const resourcesWith = (settings: Settings) => {
  const { catalogue, problems } = with_(settings)
  assert.deepStrictEqual(problems, [])
  return catalogue.resources
}
const problemsOf = (settings: Settings) => with_(settings).problems.map(({ what }) => what)

const owner: Owner = {
  name: "person",
  contact: "personcontact0001",
  email: "wanda.wordsmith@planted.example",
  phone: "+14155550137",
  madeAt: "2024-03-01T10:00:00.000Z",
  isWorded: true
}

/**
 * Compares the words in the vault with what the catalogue says is kept out. Returns the columns that are wrong, and how many are
 * kept out.
 */
const comparedWith = async (settings: Settings) => {
  const resources = resourcesWith(settings)
  const [folder, words] = [newFolder(), new Map() as Words]
  const vault = withoutWithheld(Vault.layer(join(folder, "vault")), resources, key)
  const warehouse = Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb: 128 })
  await Effect.runPromise(
    appendWorded({ ...catalogue, resources }, { id: "run", at: Date.UTC(2026, 0, 31) }, [owner], words).pipe(
      Effect.provide(Layer.provide(vault, warehouse))
    )
  )
  const found = await placesOf([join(folder, "vault")], wordPattern)
  rmSync(folder, { recursive: true })
  const wordsByField = Map.groupBy(words, ([, field]) => field.replace(/^person run /, ""))
  const isFound = (field: string) => wordsByField.get(field)!.some(([word]) => found.has(word))
  const [wrong, out] = [[] as Array<string>, new Set<string>()]
  for (const resource of resources.filter(({ withheld }) => !withheld!.isNotRead))
    for (const { column, table, isWhole } of fieldPlacesOf(resource).columns) {
      const field = `${resource.table}.${table === resource.table ? "" : `${table}.`}${column}`
      if (isWhole || !wordsByField.has(field)) continue
      const isOut = withheldIn(resource.withheld!, table, column) !== undefined
      if (isOut) out.add(field)
      if (isOut === isFound(field)) wrong.push(field)
    }
  return { wrong, out, isFound, fields: [...wordsByField.keys()] }
}

/** Every column that the settings may keep out. */
const removable = (() => {
  const needed = neededColumns(catalogue.resources)
  return catalogue.resources
    .flatMap((resource) => tablesOf(resource))
    .flatMap(({ name: table, columns }) =>
      columns.flatMap(({ name, type }) =>
        type === "system" || needed.has(`${table}.${name}`) ? [] : [{ table, name }]
      )
    )
})()
const byTable = (columns: typeof removable) =>
  [...Map.groupBy(columns, ({ table }) => table)].map(
    ([name, columns]) => [name, columns.map((column) => column.name)] as const
  )

describe("a column that is kept out", () => {
  it.each([0, 1])("has no word in the vault, and every other column has: half %i", async (half) => {
    const chosen = removable.filter((_, index) => index % 2 === half)
    const { out, wrong } = await comparedWith({
      tables: byTable(chosen).map(([name, exclude]) => ({ name, exclude }))
    })
    assert.deepStrictEqual(wrong, [])
    assert.isAbove(out.size, 200)
  })

  it("leaves unknown fields with other names", async () => {
    const { fields, isFound } = await comparedWith({ tables: [{ name: "contacts", exclude: ["ssn"] }] })
    const unknown = fields.filter((field) => /^contacts\..*unknown/.test(field))
    assert.isAbove(unknown.length, 10)
    assert.deepStrictEqual(
      unknown.filter((field) => !isFound(field)),
      []
    )
  })

  it("may be all but the named ones, and then no unknown field is stored", async () => {
    const { fields, isFound, out, wrong } = await comparedWith({
      tables: [{ name: "contacts", only: ["first_name", "contact_tags"] }]
    })
    assert.deepStrictEqual(wrong, [])
    assert.include([...out], "contacts.last_name")
    assert.isFalse(isFound("contacts.contact_emails.valid_email"))
    assert.isTrue(isFound("contacts.first_name"))
    const left = fields.filter((field) => field.startsWith("contacts.") && isFound(field))
    const tags = ["contacts.contact_tags.tag", "contacts.tags[1]", "contacts.tags[2]"]
    assert.deepStrictEqual(left.toSorted(), [...tags, "contacts.date_updated", "contacts.first_name"].toSorted())
  })

  it.each([["sensitive"], ["direct"], ["content"], ["financial"], ["quasi"]] as const)(
    "may be any of a class of personal data: %s",
    async (one) => {
      const { wrong } = await comparedWith({ excludeClasses: [one] })
      // While the custom fields of the location are not known, all values are kept out.
      const known = wrong.filter((field) => one !== "direct" || !field.includes("_custom_values."))
      assert.deepStrictEqual(known, [])
      const resources = resourcesWith({ excludeClasses: [one] })
      const left = resources.flatMap((resource) =>
        tablesOf(resource).flatMap(({ name, columns }) =>
          columns
            .filter(
              (column) =>
                column.personal === one &&
                column.name !== "_extra" &&
                column.role !== "customValue" &&
                column.withheld === undefined
            )
            .map((column) => `${name}.${column.name}`)
        )
      )
      assert.deepStrictEqual(left, [])
    }
  )
})

/** A record of a resource without what the settings keep out; the custom fields are those of the location, if it has any. */
const withheldOf = (table: string, settings: Settings, sent: unknown, fields?: Readonly<Record<string, string>>) => {
  const resources = resourcesWith(settings)
  const withholder = withholderOf(
    resources.find((one) => one.table === table)!,
    resources,
    {
      hash: columnHash(key),
      fieldsOf: () => fields && new Map(Object.entries(fields))
    }
  )
  return withholder ? withholder.record(sent, "L") : "nothing"
}
const excluding = (name: string, ...exclude: ReadonlyArray<string>): Settings => ({ tables: [{ name, exclude }] })

describe("the copies of a column", () => {
  it("go with it: other names, other tables, unknown fields at any depth, and names in small letters", () => {
    const sent = { id: "1", ssn: "x", SSN: "x", extra: { deep: [{ s_s_n: "x", other: 1 }] }, firstNameLowerCase: "y" }
    assert.deepStrictEqual(withheldOf("contacts", excluding("contacts", "ssn"), sent), {
      id: "1",
      extra: { deep: [{ other: 1 }] }
    })
    const names = { id: "1", firstName: "x", firstNameRaw: "x", lastName: "y" }
    assert.deepStrictEqual(withheldOf("contacts", excluding("contacts", "first_name"), names), {
      id: "1",
      lastName: "y"
    })
    const deal = { id: "1", contactId: "c", contact: { id: "c", email: "x", name: "n", ssn: "x", more: { ssn: "x" } } }
    assert.deepStrictEqual(withheldOf("opportunities", excluding("contacts", "email", "ssn"), deal), {
      id: "1",
      contactId: "c",
      contact: { id: "c", name: "n", more: {} }
    })
    const order = { _id: "1", contactEmail: "x", contactSnapshot: { email: "x", ssn: "x", firstName: "f" } }
    assert.deepStrictEqual(withheldOf("orders", excluding("contacts", "email", "ssn"), order), {
      _id: "1",
      contactSnapshot: { firstName: "f" }
    })
    const thread = { id: "1", tags: ["vip"], fullName: "n" }
    assert.deepStrictEqual(withheldOf("conversations", excluding("contacts", "contact_tags"), thread), {
      id: "1",
      fullName: "n"
    })
  })

  it("leave with what has another shape than the definition says, which the load would store as rejected", () => {
    for (const additionalEmails of ["x", { a: { email: "x" } }, [["x"]], 7])
      assert.notInclude(
        JSON.stringify(
          withheldOf("contacts", excluding("contact_emails", "valid_email"), { id: "1", additionalEmails })
        ),
        "x"
      )
    assert.isNull(withheldOf("contacts", excluding("contacts", "ssn"), ["x"]))
    const settings = excluding("opportunities", "contact_email")
    assert.deepStrictEqual(withheldOf("opportunities", settings, { id: "1", contact: ["x"] }), { id: "1" })
    const deep = Array.from({ length: 20_000 }).reduce<unknown>((inside) => ({ inside }), { ssn: "x" })
    assert.notInclude(JSON.stringify(withheldOf("contacts", excluding("contacts", "ssn"), { id: "1", deep })), "x")
  })

  it("no other resource is touched", () => {
    for (const { table } of catalogue.resources.filter(({ person }) => person === undefined))
      assert.strictEqual(withheldOf(table, excluding("contacts", "ssn"), { ssn: "x" }), "nothing", table)
  })
})

describe("a custom field", () => {
  const sent = {
    id: "1",
    customFields: [
      { id: "aaaaaaaaaaaaaaaaaaa1", value: "secret" },
      { id: "aaaaaaaaaaaaaaaaaaa2", value: "open" },
      { id: "aaaaaaaaaaaaaaaaaaa3", value: "made a moment ago" }
    ]
  }
  const fields = { aaaaaaaaaaaaaaaaaaa1: "contact.ssn", aaaaaaaaaaaaaaaaaaa2: "contact.level" }
  const settings = { excludeCustomFields: ["contact.ssn"] }

  it("is found by its id, its key and the short form of its key; a field that is not known may be any", () => {
    assert.deepStrictEqual(withheldOf("contacts", settings, sent, fields), {
      id: "1",
      customFields: [{ id: "aaaaaaaaaaaaaaaaaaa2", value: "open" }]
    })
    assert.deepStrictEqual(withheldOf("contacts", settings, sent), { id: "1", customFields: [] })
    const others = { aaaaaaaaaaaaaaaaaaa1: "x", "contact.ssn": "x", ssn: "x", "{{ contact.ssn }}": "x", full_name: "n" }
    assert.deepStrictEqual(withheldOf("form_submissions", settings, { id: "1", others }, fields), {
      id: "1",
      others: { full_name: "n" }
    })
    const deal = { id: "1", customFields: [{ key: "opportunity.ssn" }, { key: "ssn", fieldValueString: "x" }] }
    assert.deepStrictEqual(withheldOf("opportunities", settings, deal, fields), {
      id: "1",
      customFields: [{ key: "opportunity.ssn" }]
    })
  })

  it("is kept out by its class", () => {
    const byClass = { excludeClasses: ["sensitive"], customFields: { "contact.ssn": "sensitive" } } as const
    const customFields = [{ id: "aaaaaaaaaaaaaaaaaaa2", value: "open" }]
    assert.deepStrictEqual(withheldOf("contacts", byClass, sent, fields), { id: "1", customFields })
    const direct = { excludeClasses: ["direct"], customFields: { "contact.level": "none" } } as const
    assert.deepStrictEqual(withheldOf("contacts", direct, sent, fields), { id: "1", customFields })
  })
})

describe("a hash", () => {
  const settings: Settings = { tables: [{ name: "contacts", hash: ["email", "phone"] }] }
  const hashOf = (record: unknown) => JSON.parse(JSON.stringify(record))

  it("is the same for the same value in every table and spelling, and another one in another location", () => {
    const { email, emailLowerCase, phone } = hashOf(
      withheldOf("contacts", settings, {
        id: "1",
        email: "Ann@X.example ",
        emailLowerCase: "ann@x.example",
        phone: "+1 (415) 1"
      })
    )
    const { contact } = hashOf(
      withheldOf("opportunities", settings, { id: "1", contact: { email: "ann@x.EXAMPLE", phone: "+14151" } })
    )
    assert.match(email, /^k1_[0-9a-f]{64}$/)
    assert.strictEqual(emailLowerCase, email)
    assert.deepStrictEqual(contact, { email, phone })
    assert.notStrictEqual(columnHash(key)("M", "ann@x.example", "email"), email)
    assert.strictEqual(columnHash(key)("L", email, "email"), email)
    // As any other program computes it.
    const own = hkdfSync("sha256", Buffer.alloc(32, 7), "", "sluice/pseudonym/L", 32)
    const digits = createHmac("sha256", Buffer.from(own)).update("hash\0ann@x.example").digest("hex")
    assert.strictEqual(email, `k1_${digits}`)
  })

  it("of no text is none, and nothing that has members is hashed", () => {
    const sent = { id: "1", email: "", phone: { number: "x" } }
    assert.deepStrictEqual(withheldOf("contacts", settings, sent), { id: "1", email: "" })
    assert.deepStrictEqual(withheldOf("contacts", settings, { id: "1", email: null }), { id: "1", email: null })
  })
})

describe("what cannot be kept out", () => {
  it("is refused with the column and its use, and names that do not exist with the closest", () => {
    const needOf = (name: string, column: string) => {
      const [problem] = problemsOf(excluding(name, column))
      return problem?._tag === "NeededColumn" ? problem.need : undefined
    }
    const needs = {
      key: ["contacts.id", "contact_tags.tag", "contact_tags.contact_id"],
      parent: ["opportunities.pipeline_id", "contact_notes.contact_id"],
      change: ["conversations.date_updated", "conversations.deleted", "form_submissions.created_at"],
      request: ["contacts.date_updated", "messages.call_status", "messages.message_emails", "locations.company_id"],
      person: ["opportunities.contact_id", "opportunity_relations.record_id"],
      whole: ["recordings.path", "order_notes.body"],
      system: ["contacts.location_id", "contacts._synced_at", "contacts._extra"]
    }
    for (const [need, columns] of Object.entries(needs))
      for (const column of columns)
        assert.strictEqual<string | undefined>(needOf(...(column.split(".") as [string, string])), need, column)
    assert.deepStrictEqual(problemsOf(excluding("contcts", "ssn")), [
      { _tag: "UnknownTableSection", table: "contcts", closest: "contacts" }
    ])
    assert.deepStrictEqual(problemsOf(excluding("contacts", "snn")), [
      { _tag: "UnknownColumn", table: "contacts", key: "exclude", column: "snn", closest: "ssn" }
    ])
    assert.deepStrictEqual(problemsOf({ tables: [{ name: "contacts", only: ["ssn"], exclude: ["city"] }] }), [
      { _tag: "OnlyAndExclude", table: "contacts" }
    ])
    const hash = ["date_of_birth", "id", "created_by", "type"]
    assert.deepStrictEqual(
      problemsOf({ tables: [{ name: "contacts", hash }] }).map(({ _tag }) => _tag),
      ["NeededColumn", "NotHashable", "NotHashable", "NotHashable"]
    )
  })

  it("is every column by which pages follow each other: each field that a strategy names is one", () => {
    const needed = neededColumns(catalogue.resources)
    for (const { table, changes, tombstone, key = ["id"] } of catalogue.resources)
      for (const column of [...key, tombstone, changes && snakeCase(changes.field)])
        if (column !== undefined) assert.isTrue(needed.has(`${table}.${column}`), `${table}.${column}`)
  })

  it("of a resource that is stored whole or not at all is not read", () => {
    const resources = resourcesWith({ excludeClasses: ["content"] })
    assert.deepStrictEqual(
      resources.filter(({ withheld }) => withheld?.isNotRead).map(({ table }) => table),
      ["recordings", "order_notes"]
    )
  })
})

describe("the definitions", () => {
  it("name columns and tables that exist as those that they copy", () => {
    const tables = new Map(
      catalogue.resources.flatMap(tablesOf).map(({ name, columns }) => [name, columns.map((column) => column.name)])
    )
    const copies = catalogue.resources.flatMap((resource) =>
      fieldPlacesOf(resource).columns.flatMap(({ field }) => field.copyOf ?? [])
    )
    assert.isAbove(copies.length, 25)
    for (const copy of copies) {
      const [table, column] = copy.split(".") as [string, string?]
      assert.isTrue(column === undefined ? tables.has(table) : tables.get(table)?.includes(column), copy)
    }
  })
})
