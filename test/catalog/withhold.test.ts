/** Excluded values are removed from a record before it is stored, and values that other settings need stay. */
import { assert, describe, it } from "@effect/vitest"
import { createHmac, hkdfSync } from "node:crypto"
import { tablesOf } from "../../src/catalog/tables.ts"
import { neededColumns } from "../../src/catalog/needed-columns.ts"
import { email, snakeCase } from "../../src/catalog/fields.ts"
import { defineList, transformed } from "../../src/catalog/resource.ts"
import { withholderOf } from "../../src/catalog/withhold.ts"
import { columnHash } from "../../src/settings/masking.ts"
import { type Settings, catalogue, excluding, key, problemsOf, resourcesWith } from "../support/withheld.ts"

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
  return withholder ? withholder(sent, "L") : "nothing"
}
describe("the copies of a column", () => {
  it("go with it: other names, other tables, and whatever no definition names", () => {
    const sent = { id: "1", ssn: "x", SSN: "x", extra: { deep: [{ s_s_n: "x", other: 1 }] }, firstNameLowerCase: "y" }
    assert.deepStrictEqual(withheldOf("contacts", excluding("contacts", "ssn"), sent), { id: "1" })
    const names = { id: "1", firstName: "x", firstNameRaw: "x", lastName: "y" }
    assert.deepStrictEqual(withheldOf("contacts", excluding("contacts", "first_name"), names), {
      id: "1",
      lastName: "y"
    })
    const deal = { id: "1", contactId: "c", contact: { id: "c", email: "x", name: "n", ssn: "x", more: { ssn: "x" } } }
    assert.deepStrictEqual(withheldOf("opportunities", excluding("contacts", "email", "ssn"), deal), {
      id: "1",
      contactId: "c",
      contact: { id: "c", name: "n" }
    })
    const order = { _id: "1", contactEmail: "x", contactSnapshot: { email: "x", ssn: "x", firstName: "f" } }
    assert.deepStrictEqual(withheldOf("orders", excluding("contacts", "email", "ssn"), order), {
      _id: "1"
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

  it("does not come back among unknown fields, whatever holds it", () => {
    const unknown = {
      id: "1",
      single: { fieldKey: "contact.ssn", value: "x" },
      customField: sent.customFields,
      byId: { aaaaaaaaaaaaaaaaaaa1: "x", aaaaaaaaaaaaaaaaaaa2: "open" },
      byKey: { "contact.ssn": "x", contact_ssn: "x", other: { key: "ssn", field_value: "x" } }
    }
    assert.deepStrictEqual(withheldOf("contacts", settings, unknown, fields), { id: "1" })
  })

  it("of a form has the name of a column that is kept out, and goes with it", () => {
    const answers = { id: "1", others: { date_of_birth: "x", dateOfBirth: "x", city: "c" } }
    assert.deepStrictEqual(withheldOf("form_submissions", excluding("contacts", "date_of_birth"), answers), {
      id: "1",
      others: { city: "c" }
    })
    const dndSettings = { Email: { status: "active" } }
    assert.deepStrictEqual(withheldOf("contacts", excluding("contacts", "email"), { id: "1", dndSettings }), {
      id: "1",
      dndSettings
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
    // A row of a child table is found again by its key, and the rows of a parent by its id.
    for (const resource of catalogue.resources) {
      const { cascadesFrom, childOf, person } = resource
      for (const { key, name } of tablesOf(resource).slice(1))
        for (const column of key) assert.isTrue(needed.has(`${name}.${column}`), `${name}.${column}`)
      for (const column of [childOf?.column, cascadesFrom?.column, resource.partitionColumn, resource.expires])
        if (column !== undefined)
          assert.isTrue(needed.has(`${resource.table}.${column}`), `${resource.table}.${column}`)
      for (const path of [...(person?.contacts ?? []), ...Object.keys(person?.records ?? {})])
        assert.isTrue(needed.has(path.includes(".") ? path : `${resource.table}.${path}`), `${resource.table}: ${path}`)
    }
  })

  it("is refused, if it is of a class that is kept out", () => {
    const own = defineList({
      table: "people",
      description: "People.",
      source: "A",
      scope: "any",
      full: [],
      key: ["email"],
      fields: { email: email("Address") }
    })
    assert.deepStrictEqual(problemsOf({ excludeClasses: ["direct"] }, { ...catalogue, resources: [own] }), [
      { _tag: "NeededOfClass", table: "people", column: "email", need: "key" }
    ])
  })

  it("of a resource that is stored whole or not at all is not read", () => {
    const resources = resourcesWith({ excludeClasses: ["content"] })
    assert.deepStrictEqual(
      resources.filter(({ withheld }) => withheld?.isNotRead).map(({ table }) => table),
      ["files", "recordings", "order_notes"]
    )
  })
})

it("a record that is made of another one has the same fields, or its definition says that it is reshaped", () => {
  for (const resource of catalogue.resources.filter(({ isReshaped, transform }) => transform && !isReshaped)) {
    const sent = Object.fromEntries(Object.keys(resource.fields).map((name) => [name, "x"]))
    const [made, ...others] = transformed(resource, sent)
    assert.deepStrictEqual([Object.keys(Object(made)), others], [Object.keys(sent), []], resource.table)
  }
})
