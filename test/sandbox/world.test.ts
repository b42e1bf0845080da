import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "./client.ts"

const now = Date.UTC(2026, 5, 1)
const plain = await sandbox({ contacts: 1000, now })
const nasty = await sandbox({ contacts: 1000, now, world: "nasty" })

describe("the seeded world", () => {
  it("is the same for the same seed, and different for another seed", async () => {
    const [again, other] = [await sandbox({ contacts: 1000, now }), await sandbox({ contacts: 1000, now, seed: 2 })]
    for (const name of ["contacts", "messages", "orders"]) {
      const text = (client: typeof plain) => client.records(name).then((rows) => JSON.stringify(rows))
      assert.equal(await text(again), await text(plain))
      assert.notEqual(await text(other), await text(plain))
    }
  })

  it("has every optional contact field in some contacts but not in all", async () => {
    const rows = await plain.records("contacts")
    const optional =
      "email phone companyName gender address1 city state postalCode website timezone dateOfBirth assignedTo source " +
      "dndSettings inboundDndSettings businessId lastActivity attributionSource visitorId"
    for (const name of optional.split(" ")) {
      const having = rows.filter((row) => row[name] !== undefined).length
      assert.isTrue(having > 0 && having < rows.length, `${name}: ${having}`)
    }
  })

  it("covers three years and ends at the given time", async () => {
    for (const name of ["contacts", "conversations"]) {
      const rows = await plain.records(name)
      const dates = rows.flatMap((row) => [Date.parse(row["dateAdded"]), Date.parse(row["dateUpdated"])])
      assert.isAtMost(Math.max(...dates), now)
      assert.isAbove(now - Math.min(...dates), 900 * 86_400_000)
      assert.isTrue(rows.every((row) => row["dateAdded"] <= row["dateUpdated"]))
    }
  })

  it("refers to records that exist", async () => {
    const known = async (name: string) => new Set((await plain.records(name)).map((row) => row["id"]))
    const [contacts, users, conversations] = [
      await known("contacts"),
      await known("users"),
      await known("conversations")
    ]
    for (const row of await plain.records("contacts")) {
      assert.isTrue(row["assignedTo"] === undefined || users.has(row["assignedTo"]))
    }
    for (const name of ["opportunities", "conversations", "notes", "tasks", "orders", "messages"]) {
      for (const row of await plain.records(name)) assert.isTrue(contacts.has(row["contactId"]), name)
    }
    for (const row of await plain.records("messages")) assert.isTrue(conversations.has(row["conversationId"]))
  })

  it("has the given number of records", async () => {
    const counts = {
      contacts: 40,
      opportunities: 7,
      conversations: 9,
      messages: 55,
      orders: 3,
      submissions: 2,
      tasks: 4
    }
    const small = await sandbox({ ...counts, users: 6, tags: 2, customValues: 3 })
    for (const [name, count] of Object.entries(counts)) assert.equal((await small.records(name)).length, count, name)
    for (const row of await small.records("contacts")) {
      assert.deepEqual([row["tags"].length, row["customFields"].length], [2, 3])
    }
    const empty = await sandbox({ contacts: 0 })
    assert.isEmpty(await empty.records("messages"))
  })
})

describe("the malformed world", () => {
  const shapes = (rows: Array<Json>, name: string) =>
    new Set(rows.map((row) => (typeof row[name] === "string" ? row[name].replaceAll(/\d/g, "9") : typeof row[name])))

  it("has dates of birth in all eight formats, and instants as text and number", async () => {
    const rows = await nasty.records("contacts")
    const birthdays = shapes(rows, "dateOfBirth")
    for (const separator of ["/", "-", ".", "_"]) {
      assert.isTrue(birthdays.has(["9999", "99", "99"].join(separator)), separator)
      assert.isTrue(birthdays.has(["99", "99", "9999"].join(separator)), separator)
    }
    const dates = shapes(rows, "dateAdded")
    for (const shape of ["number", "9999999999999", "9999-99-99T99:99:99.999Z", "9999-99-99T99:99:99.999+99:99"]) {
      assert.isTrue(dates.has(shape), shape)
    }
    assert.isTrue(["true", "false"].some((text) => shapes(rows, "dnd").has(text)))
  })

  it("has amounts as text and with more digits than a double, and unusual texts", async () => {
    const response = await nasty.fetch(`/__sandbox/records/opportunities`)
    const text = await response.text()
    assert.match(text, /"monetaryValue":"\d+\.\d\d"/)
    assert.match(text, /"monetaryValue":\d{12}\.12345678/)
    const contacts = await (await nasty.fetch(`/__sandbox/records/contacts`)).text()
    assert.include(contacts, "\\u0000")
    assert.include(contacts, "\\ud83d and")
    const messages = await (await nasty.fetch(`/__sandbox/records/messages`)).text()
    assert.match(messages, /(0123456789abcdef){4096}/)
  })

  it("has ids that differ only in case", async () => {
    const ids = (await nasty.records("contacts")).map((row) => row["id"])
    assert.equal(new Set(ids).size, 1000)
    assert.isBelow(new Set(ids.map((id) => id.toLowerCase())).size, 1000)
  })

  it("lists records without an id and stale copies of others", async () => {
    const invalidItems = await nasty.records("contacts", "?strays=1")
    assert.isTrue(invalidItems.some((row) => row["id"] === null))
    assert.isTrue(invalidItems.some((row) => row["id"] === undefined))
    const seen: Array<Json> = []
    for (let searchAfter: unknown; ; searchAfter = seen.at(-1)!["searchAfter"]) {
      const body = { locationId: nasty.locationId, pageLimit: 50, ...(searchAfter !== undefined && { searchAfter }) }
      const { contacts } = (await nasty.post("/contacts/search", body)).body
      seen.push(...contacts)
      if (contacts.length < 50) break
    }
    assert.equal(seen.length, 1000 + invalidItems.length)
    const stale = invalidItems.find((row) => typeof row["id"] === "string")!
    assert.equal(seen.filter((row) => row["id"] === stale["id"]).length, 2)
  })

  it("has more conversations with one lastMessageDate than fit on a page", async () => {
    const { conversations } = nasty.world
    const rows = conversations.sorted({ name: "test", key: (row) => row.last })
    const runs = Map.groupBy(rows, (row) => row.last)
    assert.isAbove(Math.max(...[...runs.values()].map((run) => run.length)), 100)
  })
})
