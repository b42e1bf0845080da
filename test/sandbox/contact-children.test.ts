import { assert, describe, it } from "vitest"
import { ids, type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 60 })
const { locationId } = s
const create = async (fields: Json = {}): Promise<Json> =>
  (await s.post("/contacts/", { locationId, ...fields })).body["contact"]

describe("the tags of a contact", () => {
  it("are added once each, removed, and returned in their new state", async () => {
    const { id } = await create({ tags: ["a"] })
    const added = await s.post(`/contacts/${id}/tags`, { tags: ["b", "a"] })
    assert.deepEqual([added.status, added.body], [201, { tags: ["a", "b"] }])
    const removed = await s.send("DELETE", `/contacts/${id}/tags`, { tags: ["a", "z"] })
    assert.deepEqual([removed.status, removed.body], [200, { tags: ["b"] }])
    assert.deepEqual((await s.get(`/contacts/${id}`)).body["contact"].tags, ["b"])
  })

  it("need a list of texts and an existing contact", async () => {
    const { id } = await create()
    assert.equal((await s.post(`/contacts/${id}/tags`, {})).status, 422)
    assert.equal((await s.post(`/contacts/${id}/tags`, { tags: [] })).status, 422)
    assert.equal((await s.post(`/contacts/${id}/tags`, { tags: "a" })).status, 400)
    assert.equal((await s.post(`/contacts/${id}/tags`, { tags: [1] })).status, 400)
    assert.equal((await s.post("/contacts/nobody/tags", { tags: ["a"] })).status, 404)
    assert.equal((await s.send("DELETE", "/contacts/nobody/tags", { tags: ["a"] })).status, 404)
  })

  it("can be changed for several contacts at once, with one result each", async () => {
    const [one, two] = [await create({ tags: ["a", "b"] }), await create()]
    const bulk = (type: string, body: Json) => s.post(`/contacts/bulk/tags/update/${type}`, { locationId, ...body })
    const contacts = [one["id"], "nobody", two["id"]]
    const { body, status } = await bulk("add", { contacts, tags: ["c"] })
    assert.deepEqual([status, body["succeeded"], body["errorCount"]], [201, false, 1])
    assert.deepEqual(
      body["responses"].map((row: Json) => [row["contactId"], row["type"]]),
      [
        [one["id"], "success"],
        ["nobody", "error"],
        [two["id"], "success"]
      ]
    )
    assert.deepEqual((await s.get(`/contacts/${one["id"]}`)).body["contact"].tags, ["a", "b", "c"])
    assert.isTrue((await bulk("remove", { contacts: [one["id"]], tags: ["a"] })).body["succeeded"])
    await bulk("remove", { contacts: [one["id"]], tags: [], removeAllTags: true })
    assert.deepEqual((await s.get(`/contacts/${one["id"]}`)).body["contact"].tags, [])
    assert.equal((await bulk("add", { contacts: [one["id"]], tags: ["a"], removeAllTags: true })).status, 422)
    assert.equal((await bulk("swap", { contacts: [one["id"]], tags: ["a"] })).status, 422)
    assert.equal((await bulk("add", { tags: ["a"] })).status, 422)
  })
})

describe("the tasks of a contact", () => {
  it("can be created, listed and found by the task search", async () => {
    const { id } = await create()
    const path = `/contacts/${id}/tasks`
    assert.deepEqual((await s.get(path)).body, { tasks: [] })
    const sent = { title: "Call", dueDate: "2027-01-02T10:00:00Z", completed: false, body: "soon" }
    const created = await s.post(path, sent)
    assert.equal(created.status, 201)
    assert.deepEqual(created.body["task"], { id: created.body["task"].id, contactId: id, ...sent })
    assert.deepEqual((await s.get(path)).body["tasks"], [created.body["task"]])
    const found = await s.post(`/locations/${locationId}/tasks/search`, { contactId: [id] })
    assert.deepEqual(ids(found.body["tasks"]), [created.body["task"].id])
  })

  it("need a title, a due date and a flag, each of its type", async () => {
    const path = `/contacts/${(await create())["id"]}/tasks`
    const { body, status } = await s.post(path, {})
    assert.deepEqual([status, body["message"].length], [422, 3])
    const sent = { title: "Call", dueDate: "2027-01-02T10:00:00Z", completed: false }
    assert.equal((await s.post(path, { ...sent, dueDate: "tomorrow" })).status, 422)
    assert.equal((await s.post(path, { ...sent, completed: "no" })).status, 400)
    assert.equal((await s.post(path, { ...sent, assignedTo: "nobody" })).status, 422)
    assert.equal((await s.get("/contacts/nobody/tasks")).status, 404)
  })
})

describe("workflows", () => {
  it("are listed with their status and without their steps", async () => {
    const { workflows } = (await s.get(`/workflows/?locationId=${locationId}`)).body
    assert.includeMembers([...new Set(workflows.map((row: Json) => row["status"]))], ["published", "draft"])
    assert.isUndefined(workflows[0].steps)
    assert.equal((await s.get("/workflows/")).status, 422)
  })

  it("accept a contact if they are published", async () => {
    const { id } = await create()
    const { workflows } = (await s.get(`/workflows/?locationId=${locationId}`)).body
    const of = (status: string) => workflows.find((row: Json) => row["status"] === status).id
    assert.equal((await s.post(`/contacts/${id}/workflow/${of("published")}`)).status, 200)
    assert.equal((await s.post(`/contacts/${id}/workflow/${of("draft")}`)).status, 422)
    assert.equal((await s.post(`/contacts/${id}/workflow/none`)).status, 404)
    assert.equal((await s.post(`/contacts/none/workflow/${of("published")}`)).status, 404)
  })
})

describe("contact fields", () => {
  it("must have the documented types and formats", async () => {
    const [number] = (await s.records("customFields")).filter((row) => row["dataType"] === "NUMERICAL")
    const status = async (fields: Json) => (await s.post("/contacts/", { locationId, ...fields })).status
    for (const dateOfBirth of ["1980/02/03", "02/03/1980", "1980-02-03", "02-03-1980", "1980.02.03", "1980_02_03"]) {
      assert.equal(await status({ dateOfBirth }), 201, dateOfBirth)
    }
    for (const dateOfBirth of ["3.2.1980", "1980-02/03", "yesterday"]) assert.equal(await status({ dateOfBirth }), 422)
    assert.equal(await status({ country: "Norway" }), 422)
    assert.equal(await status({ assignedTo: "nobody" }), 422)
    assert.equal(await status({ email: "at" }), 422)
    assert.equal(await status({ dndSettings: { email: { status: "active", message: "m", code: "c" } } }), 201)
    assert.equal(await status({ dndSettings: { sms: { status: "perhaps" } } }), 422)
    assert.equal(await status({ inboundDndSettings: { all: { status: "permanent" } } }), 422)
    const value = async (sent: Json) => status({ customFields: [sent] })
    assert.equal(await value({ key: number!["fieldKey"], field_value: 5 }), 201)
    assert.equal(await value({ id: number!["id"], fieldValue: "5" }), 422)
    assert.equal(await value({ id: "unknown", fieldValue: 5 }), 422)
    assert.equal(await value({ fieldValue: 5 }), 422)
    const { id } = await create()
    assert.equal((await s.post(`/contacts/${id}/notes`, { body: "x", color: "red" })).status, 422)
    assert.equal((await s.post(`/contacts/${id}/notes`, { body: "x", userId: "nobody" })).status, 422)
  })
})
