import { assert, describe, it } from "vitest"
import { ids, type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 60 })
const { locationId } = s
const create = async (fields: Json = {}): Promise<Json> =>
  (await s.post("/contacts/", { locationId, ...fields })).body["contact"]

describe("the tasks of a contact", () => {
  it("are listed, and found by the task search", async () => {
    const all = await s.records("tasks")
    const { contactId } = all[0]!
    const own = ids(all.filter((row) => row["contactId"] === contactId))
    assert.deepEqual(ids((await s.get(`/contacts/${contactId}/tasks`)).body["tasks"]), own)
    const found = await s.post(`/locations/${locationId}/tasks/search`, { contactId: [contactId] })
    assert.deepEqual(ids(found.body["tasks"]), own)
    assert.deepEqual((await s.get(`/contacts/${(await create())["id"]}/tasks`)).body, { tasks: [] })
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
