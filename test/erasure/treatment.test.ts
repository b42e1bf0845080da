/** Whose a record is that mentions an erased person: it is not stored, stored without them, or none of their business. */
import { assert, describe, it } from "@effect/vitest"
import { id } from "../../src/catalog/fields.ts"
import { get } from "../../src/catalog/request.ts"
import { type Resource, defineList } from "../../src/catalog/resource.ts"
import type { Identifier, ListedAs } from "../../src/features/privacy/erasure/job.ts"
import type { Suppression } from "../../src/features/privacy/erasure/suppression.ts"
import { namesErased, ownColumns, treatmentOf } from "../../src/features/privacy/erasure/treatment.ts"

/** A list with these entries. What contains an @ is an address, of which a location says how it is spelt. */
const listing = (...listed: ReadonlyArray<Identifier>): Suppression =>
  ({
    has: (one: Identifier) => listed.some((other) => JSON.stringify(other) === JSON.stringify(one)),
    addressesIn: (location: string, value: string) =>
      value.includes("@") ? [{ kind: "address", value: `${location} ${value.toLowerCase()}` }] : []
  }) as unknown as Suppression

const resource = (table: string, person?: Resource["person"]): Resource =>
  defineList({
    table,
    description: "d",
    source: "s",
    scope: "s",
    full: [{ request: get("/x"), paging: { kind: "once" }, records: "x", pageSize: 10 }],
    fields: { id: id("Id") },
    ...(person && { person })
  })
const contact = (id: string, location = "L"): ListedAs => ({ kind: "contact", location, id })
const record = (table: string, key: string, location = "L"): ListedAs => ({ kind: "record", table, location, key })
const address = (value: string, location = "L"): Identifier => ({ kind: "address", value: `${location} ${value}` })
const financial = (of: ListedAs): Identifier => ({ kind: "financial", of })

const notes = resource("notes", { contacts: ["contact_id"] })
const invoices = resource("invoices", { contacts: ["contact_id"], isFinancial: true })
const calls = resource("calls", {
  contacts: ["contact_id"],
  addresses: ["caller", "parties.address"]
})
const lines = resource("lines", { records: { invoice_id: "invoices" } })

type Case = readonly [string, Resource, Readonly<Record<string, unknown>>, ReadonlyArray<Identifier>, string]
describe("a record", () => {
  it.each([
    ["of somebody else", notes, { contact_id: "c2" }, [contact("c1")], "stored"],
    ["of the person", notes, { contact_id: "c1" }, [contact("c1")], "removed"],
    ["of somebody with the same id elsewhere", notes, { contact_id: "c1" }, [contact("c1", "M")], "stored"],
    ["that is listed itself", notes, { contact_id: "c2" }, [record("notes", "k")], "removed"],
    ["that has the key of one in another table", notes, { contact_id: "c2" }, [record("tasks", "k")], "stored"],
    ["that has the key of one elsewhere", notes, { contact_id: "c2" }, [record("notes", "k", "M")], "stored"],
    ["that was kept for the books", notes, { contact_id: "c2" }, [financial(record("notes", "k"))], "anonymised"],
    ["about money of the person", invoices, { contact_id: "c1" }, [contact("c1")], "removed"],
    [
      "about money of the person, which is kept",
      invoices,
      { contact_id: "c1" },
      [contact("c1"), financial(contact("c1"))],
      "anonymised"
    ],
    [
      "that is not about money, of a person whose money is kept",
      notes,
      { contact_id: "c1" },
      [contact("c1"), financial(contact("c1"))],
      "removed"
    ],
    [
      "with the address of the person, and of nobody",
      calls,
      { caller: "Ann@x.org" },
      [address("ann@x.org")],
      "removed"
    ],
    [
      "with the address of the person, of somebody else",
      calls,
      { contact_id: "c2", caller: "ann@x.org" },
      [address("ann@x.org")],
      "stored"
    ],
    [
      "with the address in a child table",
      calls,
      { parties: [{ address: "bob@x.org" }, { address: "ann@x.org" }] },
      [address("ann@x.org")],
      "removed"
    ],
    ["with an address that is listed elsewhere", calls, { caller: "ann@x.org" }, [address("ann@x.org", "M")], "stored"],
    ["without any name", calls, { contact_id: "", caller: null }, [contact(""), address("")], "stored"],
    ["below a record that is listed", lines, { invoice_id: "i1" }, [record("invoices", "i1")], "removed"],
    [
      "below a record that is kept for the books",
      lines,
      { invoice_id: "i1" },
      [financial(record("invoices", "i1"))],
      "removed"
    ],
    ["below another record", lines, { invoice_id: "i2" }, [record("invoices", "i1")], "stored"],
    ["of a table about nobody", resource("forms"), { contact_id: "c1" }, [contact("c1")], "stored"]
  ] as ReadonlyArray<Case>)("%s", (_, of, row, listed, expected) =>
    assert.strictEqual(treatmentOf(listing(...listed), of, "L", ["k"], row), expected)
  )

  it("that names several contacts belongs to them alone if all of them are listed", () => {
    const shared = resource("deals", { contacts: ["contact_id", "partner_id"] })
    const treated = (...listed: ReadonlyArray<string>) =>
      treatmentOf(listing(...listed.map((id) => contact(id))), shared, "L", ["k"], {
        contact_id: "c1",
        partner_id: "c2"
      })
    assert.deepStrictEqual([treated("c1"), treated("c2"), treated("c1", "c2")], ["stored", "stored", "removed"])
  })

  it("that names them in a child table only is not theirs", () => {
    const meetings = resource("meetings", { contacts: ["guests.contact_id"] })
    assert.strictEqual(
      treatmentOf(listing(contact("c1")), meetings, "L", ["k"], { guests: [{ contact_id: "c1" }] }),
      "stored"
    )
    assert.deepStrictEqual(ownColumns(["a", "guests.contact_id", "b"]), ["a", "b"])
    assert.deepStrictEqual(ownColumns(undefined), [])
  })

  it("of the contacts is a listed person also by another id, if it has one of their addresses", () => {
    const contacts = resource("contacts", { contacts: ["id"], addresses: ["email"] })
    const treated = (email: string) =>
      treatmentOf(listing(address("ann@x.org")), contacts, "L", ["c9"], { id: "c9", email })
    assert.deepStrictEqual([treated("ANN@x.org"), treated("bob@x.org")], ["removed", "stored"])
  })

  it("that belongs to a record of any table follows that one", () => {
    const files = resource("files", {
      owner: { table: "of_table", key: "of_key" },
      addresses: ["name"]
    })
    const treated = (row: Readonly<Record<string, unknown>>, ...listed: ReadonlyArray<Identifier>) =>
      treatmentOf(listing(...listed), files, "L", ["k"], row)
    const owned = { of_table: "notes", of_key: "n1", name: "ann@x.org" }
    assert.strictEqual(treated(owned, record("notes", "n1")), "removed")
    assert.strictEqual(treated(owned, financial(record("notes", "n1"))), "removed")
    assert.strictEqual(treated(owned, record("notes", "n2"), address("ann@x.org")), "stored")
  })

  it("with a key of several columns is listed by all of them", () => {
    const treated = (key: ReadonlyArray<unknown>) =>
      treatmentOf(listing(record("slots", "a\u001f7")), resource("slots"), "L", key, {})
    assert.deepStrictEqual([["a", 7], ["a"], ["a", 8], ["a7"]].map(treated), ["removed", "stored", "stored", "stored"])
  })
})

describe("a record that nobody can read", () => {
  const listed = listing(contact("c1"), address("ann@x.org"), record("notes", "n1"), record("invoices", "i1"))
  const names = (value: unknown, of: Resource = notes, location = "L") => namesErased(listed, of, location, value)
  it.each([
    ["an id of theirs", { deep: [{ any: "c1" }] }, true],
    ["a name of a member", { c1: true }, true],
    ["an address of theirs", "Ann@x.org", true],
    ["an address within a text", { text: "write to <ANN@x.org>, please" }, true],
    ["a key of theirs in its own table", ["n1"], true],
    ["an id as a number", JSON.rawJSON("123"), false],
    ["somebody else", { id: "c2", text: "bob@x.org", n: 5, no: null }, false]
  ])("is theirs if it has %s: %j, %o", (_, value, expected) => assert.strictEqual(names(value), expected))

  it("is theirs by a key of a table that it may belong to, and not elsewhere", () => {
    assert.isFalse(names("i1"))
    assert.isTrue(names("i1", lines))
    assert.isFalse(names({ id: "c1", mail: "ann@x.org" }, notes, "M"))
    assert.isTrue(
      namesErased(listing(contact("12345678901234567890")), notes, "L", JSON.rawJSON("12345678901234567890"))
    )
  })
})
