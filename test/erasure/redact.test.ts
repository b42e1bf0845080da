/** What is left of an entry of the vault once somebody on it was erased: their records are not, and all others are. */
import { assert, describe, it } from "@effect/vitest"
import { id, text } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { defineChild, defineList } from "../../src/catalog/resource.ts"
import type { Identifier } from "../../src/features/privacy/erasure/job.ts"
import { redactor } from "../../src/features/privacy/erasure/redact-frame.ts"
import type { Suppression } from "../../src/features/privacy/erasure/suppression.ts"
import type { Entry } from "../../src/stores/vault/entry.ts"
import { checkpoint } from "../support/checkpoint.ts"

const common = { description: "d", source: "s", scope: "s" }
const once = { request: get("/x"), paging: { kind: "once" }, records: "items", pageSize: 10 } as const
const contacts = defineList({
  ...common,
  table: "contacts",
  full: [once],
  person: { contacts: ["id"], addresses: [] },
  fields: { id: id("Id"), name: text("Name") }
})
const notes = defineChild({
  ...common,
  table: "notes",
  childOf: { table: "contacts", column: "contact_id", refreshAfter: "1 day", strategy: once },
  person: { contacts: ["contact_id"], addresses: [] },
  fields: { id: id("Id"), contactId: text("Contact"), body: text("Body") }
})
/** Each record of it becomes several rows. */
const pairs = defineList({
  ...common,
  table: "pairs",
  full: [once],
  person: { contacts: ["contact_id"], addresses: [] },
  transform: (record) => (record as { readonly parts: ReadonlyArray<unknown> }).parts,
  fields: { id: id("Id"), contactId: text("Contact") }
})
const forms = defineList({ ...common, table: "forms", full: [once], fields: { id: id("Id") } })
const list: ReadonlyArray<Identifier> = [
  { kind: "contact", location: "L", id: "ann" },
  { kind: "record", table: "contacts", location: "L", key: "ann" },
  { kind: "record", table: "notes", location: "L", key: "n1" }
]
const suppression = {
  has: (one: Identifier) => list.some((other) => JSON.stringify(other) === JSON.stringify(one)),
  addressesIn: () => [],
  pseudonym: (_: string, contact: string) => `erased-${contact}`
} as unknown as Suppression

const entry = (more: Partial<Entry> & object = {}): Entry =>
  ({
    kind: "page",
    run: "r",
    at: 1,
    location: "L",
    resource: "contacts",
    partition: "all",
    request: {},
    records: "items",
    hasBigNumbers: false,
    checkpoint,
    ...more
  }) as Entry
const redact = (body: unknown, more: object = {}, ids: ReadonlyArray<string> = []) => {
  const sent = typeof body === "string" ? body : JSON.stringify(body)
  const { frame, removed } = redactor(
    [contacts, notes, pairs, forms],
    suppression,
    ids
  )({ entry: entry(more), body: sent })
  return { body: frame && String(frame.body), entry: frame?.entry, isSame: String(frame?.body) === sent, removed }
}

describe("a page", () => {
  it("loses the records of the person, and is byte for byte as it was without any", () => {
    const others = '{ "items": [ {"id":"bob", "n":1.10} ], "total": 2 }'
    assert.deepInclude(redact(others), { isSame: true, removed: 0 })
    const both = redact({
      items: [
        { id: "ann", name: "Ann" },
        { id: "bob", name: "Bob" }
      ],
      total: 2
    })
    assert.deepInclude(both, { body: '{"items":[{"id":"bob","name":"Bob"}],"total":2}', removed: 1 })
    assert.deepInclude(redact({ items: [{ id: "ann" }] }), { body: '{"items":[]}', removed: 1 })
  })

  it("of another location, or of a table about nobody, is left alone", () => {
    assert.deepInclude(redact({ items: [{ id: "ann" }] }, { location: "M" }), { isSame: true, removed: 0 })
    assert.deepInclude(redact({ items: [{ id: "ann" }] }, { resource: "forms" }), { isSame: true, removed: 0 })
  })

  it("keeps every digit of the numbers that are left", () => {
    const { body } = redact('{"items":[{"id":"ann"},{"id":"bob","n":12345678901234567890.10}]}', {
      hasBigNumbers: true
    })
    assert.strictEqual(body, '{"items":[{"id":"bob","n":12345678901234567890.10}]}')
  })

  it("loses a record that cannot be read and names them anywhere", () => {
    const unread = { items: [{ name: { deep: ["ann"] } }, { name: { deep: ["bob"] } }] }
    assert.deepInclude(redact(unread), { body: '{"items":[{"name":{"deep":["bob"]}}]}', removed: 1 })
  })

  it("loses a record of which only a part can be read, if the other part names them", () => {
    const of = (contact: string) => ({ parts: [{ id: "p", contactId: "bob" }, { contactId: contact }] })
    const { body, removed } = redact({ items: [of("ann"), of("bob")] }, { resource: "pairs" })
    assert.deepStrictEqual([JSON.parse(body!), removed], [{ items: [of("bob")] }, 1])
    const readable = {
      parts: [
        { id: "p", contactId: "bob" },
        { id: "q", contactId: "ann" }
      ]
    }
    assert.deepInclude(redact({ items: [readable] }, { resource: "pairs" }), { body: '{"items":[]}', removed: 1 })
  })

  it("of their children is none, and of the children of others loses what is theirs", () => {
    const of = (parent: string) => ({
      resource: "notes",
      partition: "notes",
      parent: { id: parent, version: "1", done: true, full: true }
    })
    const items = [
      { id: "n1", contactId: "bob" },
      { id: "n2", contactId: "bob" }
    ]
    assert.deepInclude(redact({ items }, of("ann")), { body: undefined, removed: 1 })
    assert.deepInclude(redact({ items }, of("bob")), { removed: 1 })
    assert.notInclude(redact({ items }, of("bob")).body!, "n1")
    assert.deepInclude(redact({ items: [{ id: "n2" }] }, { ...of("ann"), location: "M" }), { isSame: true })
  })
})

describe("an entry about keys", () => {
  it.each(["deleted", "existing"])("that are %s loses those of the person", (kind) => {
    assert.deepInclude(redact(["ann", "bob"], { kind }), { body: '["bob"]', removed: 1 })
    assert.deepInclude(redact(["ann"], { kind }), { body: "[]", removed: 1 })
    assert.deepInclude(redact(["bob"], { kind }), { isSame: true, removed: 0 })
    assert.deepInclude(redact(["ann"], { kind, location: "M" }), { isSame: true, removed: 0 })
    assert.deepInclude(redact(["n1"], { kind }), { isSame: true, removed: 0 })
  })

  it.each(["end", "window"])("of the kind %s has none", (kind) =>
    assert.deepInclude(redact("", { kind }), { isSame: true, removed: 0 })
  )
})

describe("the entry itself", () => {
  const ids = ["ann", "contact-ann-1"]
  it("loses an id of theirs from a request and a cursor, and keeps its length", () => {
    const { entry: left, removed } = redact(
      { items: [] },
      {
        request: { path: "/x/ann", parameters: { after: ["ann"] } },
        checkpoint: { ...checkpoint, cursor: "contact-ann-1", lastIds: ["contact-ann-1", "bob"] }
      },
      ids
    )
    assert.deepInclude(left, { request: { path: "/x/xxx", parameters: { after: ["xxx"] } } })
    assert.deepInclude((left as { readonly checkpoint?: object }).checkpoint!, {
      cursor: "x".repeat(13),
      lastIds: ["x".repeat(13), "bob"]
    })
    assert.strictEqual(removed, 1)
  })

  it("keeps a word that only contains the id, a short one in a checkpoint, and what says which entry it is", () => {
    const kept = {
      partition: "ann",
      request: { path: "/x/anna/ann-e" },
      checkpoint: { ...checkpoint, lastIds: ["ann"] }
    }
    assert.deepInclude(redact({ items: [] }, kept, ids), { removed: 0, isSame: true })
    assert.deepInclude(redact({ items: [] }, kept, ids).entry, kept)
  })
})
