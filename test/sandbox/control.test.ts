import { assert, describe, it } from "vitest"
import { ids, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 400 })
const names = "locations users tasks contacts notes pipelines opportunities conversations messages orders submissions"

describe("control", () => {
  it("counts requests by operation, and lists their arrivals on request only", async () => {
    await s.post("/__sandbox/stats/reset")
    await s.get(`/locations/${s.locationId}`)
    await s.get(`/locations/${s.locationId}`)
    await s.get("/nowhere")
    const { body } = await s.get("/__sandbox/stats?arrivals=1")
    assert.equal(body["requests"], 3)
    assert.deepEqual(body["requestsByOperation"], { "GET /locations/:locationId": 2, unknown: 1 })
    assert.equal(body["fullestWindow"], 2)
    assert.equal(body["arrivals"].length, 2)
    assert.isUndefined((await s.get("/__sandbox/stats")).body["arrivals"])
  })

  it("returns every record in the form of a single read", async () => {
    for (const name of names.split(" ")) assert.isNotEmpty(await s.records(name), name)
    const paths = { users: "/users/", contacts: "/contacts/", conversations: "/conversations/" }
    for (const [name, path] of Object.entries(paths)) {
      const record = (await s.records(name))[3]!
      const { body } = await s.get(`${path}${record["id"]}`)
      assert.deepEqual(body["contact"] ?? body, record, name)
    }
    assert.equal((await s.get("/__sandbox/records/dreams")).status, 404)
  })

  it("changes the given shares with later dates than all records before, and returns the counts", async () => {
    const before = await s.records("contacts")
    const { now } = (await s.post("/__sandbox/clock", { advanceMs: 0 })).body
    const { body: counts } = await s.post("/__sandbox/change", { contacts: 0.1, delete: 0.05, seed: 4 })
    const after = await s.records("contacts")
    assert.equal(counts["deleted"], 20)
    assert.equal(after.length, before.length - counts["deleted"] + counts["contactsAdded"])
    const fresh = after.filter((row) => Date.parse(row["dateUpdated"]) > now)
    assert.equal(fresh.length, counts["contacts"] + counts["contactsAdded"])
    const notes = (await s.records("notes")).filter((row) => Date.parse(row["dateAdded"]) > now)
    assert.equal(notes.length, counts["notes"])
    assert.isTrue(notes.every((note) => fresh.some((row) => row["id"] === note["contactId"])))
    const moved = (await s.records("conversations")).filter((row) => Date.parse(row["lastMessageDate"]) > now)
    assert.equal(moved.length, counts["messagesAdded"])
    assert.isBelow(Math.max(...fresh.map((row) => Date.parse(row["dateUpdated"]))), Date.now() + 60_000)
  })

  it("changes nothing if all shares are 0", async () => {
    const nothing = { contacts: 0, opportunities: 0, conversations: 0, messages: 0, orders: 0, submissions: 0 }
    const before = await s.records("messages")
    const { body } = await s.post("/__sandbox/change", nothing)
    assert.isTrue(Object.values(body).every((count) => count === 0))
    assert.deepEqual(await s.records("messages"), before)
  })

  it("makes the same changes for the same seeds", async () => {
    const run = async () => {
      const client = await sandbox({ contacts: 200, now: Date.UTC(2026, 0, 1) })
      await client.post("/__sandbox/change", { seed: 3 })
      return ids(await client.records("contacts"))
    }
    assert.deepEqual(await run(), await run())
  })

  it("returns collections that are created on demand, also by the names of tables", async () => {
    const made =
      "custom_fields objectFields folders templates recurringTasks workflows calendars appointments emails transcripts"
    for (const name of made.split(" ")) assert.isNotEmpty(await s.records(name), name)
  })

  it("adds invalid records to lists", async () => {
    const { locationId } = s
    const search = async () =>
      (await s.post("/contacts/search", { locationId, pageLimit: 500 })).body["contacts"] as Array<
        Record<string, unknown>
      >
    const before = (await search()).length
    await s.post("/__sandbox/poison", { collection: "contacts", count: 2 })
    await s.post("/__sandbox/poison", { collection: "contacts", fields: { id: 7, dateAdded: "never" } })
    const after = await search()
    assert.equal(after.length, before + 3)
    assert.equal(after.filter((row) => row["id"] === null).length, 2)
    assert.equal(after.find((row) => row["id"] === 7)!["dateAdded"], "never")
    assert.equal((await s.post("/__sandbox/poison", { collection: "dreams" })).status, 400)
    assert.equal((await s.post("/__sandbox/poison", { collection: "contacts", count: 0 })).status, 400)
  })

  it("changes fields of a record, and removes one, as the product does where the API has no operation", async () => {
    const client = await sandbox({ contacts: 20 })
    const [field, other] = await client.records("customFields")
    const change = (id: unknown, fields: unknown = { name: "Kind of house" }) =>
      client.post("/__sandbox/edit", { collection: "customFields", id, fields })
    assert.deepEqual((await change(field!["id"])).body, { edited: field!["id"] })
    const renamed = { ...field, name: "Kind of house" }
    const path = `/locations/${client.locationId}/customFields/${field!["id"]}`
    assert.deepEqual((await client.get(path)).body, { customField: renamed })
    assert.deepInclude(await client.records("customFields"), other)
    assert.deepEqual([(await change("none")).status, (await change(field!["id"], 5)).status], [404, 400])
    const remove = () => client.post("/__sandbox/remove", { collection: "customFields", id: field!["id"] })
    assert.deepEqual((await remove()).body, { removed: field!["id"] })
    assert.deepEqual([(await client.get(path)).status, (await remove()).status], [404, 404])
  })

  it("changes records with every request and by the clock until it is stopped", async () => {
    const client = await sandbox({ contacts: 100 })
    const changes = async (rate: object) => (await client.post("/__sandbox/churn", rate)).body["changes"]
    assert.equal(await changes({ perRequest: 3, deletes: 0.1 }), 0)
    for (let request = 0; request < 10; request++) await client.get(`/locations/${client.locationId}`)
    assert.equal(await changes({ perSecond: 5 }), 30)
    await client.post("/__sandbox/clock", { advanceMs: 4000 })
    await client.get(`/locations/${client.locationId}`)
    const made = await changes({})
    assert.isAtLeast(made, 50)
    await client.get(`/locations/${client.locationId}`)
    assert.equal(await changes({}), made)
    assert.isTrue((await client.records("contacts")).some((row) => String(row["source"]).startsWith("churn")))
    assert.equal((await client.post("/__sandbox/churn", { perSecond: -1 })).status, 400)
    const lists = ["conversations", "invoices", "messages", "opportunities", "orders"]
    const counts = () => Promise.all(lists.map(async (list) => (await client.records(list)).length))
    const before = await counts()
    await client.post("/__sandbox/churn", { perRequest: 40, removes: 1 })
    await client.get(`/locations/${client.locationId}`)
    await client.post("/__sandbox/churn", {})
    for (const [index, count] of (await counts()).entries()) assert.isBelow(count, before[index]!, lists[index])
  })

  it("refuses unknown commands and invalid values", async () => {
    assert.equal((await s.post("/__sandbox/dance")).status, 404)
    assert.equal((await s.post("/__sandbox/clock", { advanceMs: "soon" })).status, 400)
    assert.equal((await s.post("/__sandbox/change", { contacts: -1 })).status, 400)
    assert.equal((await s.post("/__sandbox/change", "[")).status, 400)
  })
})
