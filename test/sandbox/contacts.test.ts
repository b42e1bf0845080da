import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "./client.ts"

const s = await sandbox()
const { locationId } = s

describe("a contact", () => {
  it("can be created, read, updated, found by its change, and deleted", async () => {
    const sent = { locationId, firstName: "Zoë", lastName: "Okafor", email: "Zoe@Example.com", phone: "+12075550123" }
    const [{ id: fieldId }] = (await s.records("customFields")).filter((row) => row["dataType"] === "CHECKBOX") as [
      Json
    ]
    const created = await s.post("/contacts/", {
      ...sent,
      customFields: [{ id: fieldId, fieldValue: ["Email", "Text"] }]
    })
    assert.equal(created.status, 201)
    const { contact } = created.body
    assert.equal(contact.name, "Zoë Okafor")
    assert.equal(contact.emailLowerCase, "zoe@example.com")
    assert.deepEqual(contact.customFields, [{ id: fieldId, value: ["Email", "Text"] }])
    assert.deepEqual((await s.get(`/contacts/${contact.id}`)).body["contact"], contact)

    const updated = await s.send("PUT", `/contacts/${contact.id}`, { lastName: "Vega", tags: ["vip"] })
    assert.isTrue(updated.body["succeeded"])
    assert.equal(updated.body["contact"].name, "Zoë Vega")
    const newest = await s.post("/contacts/search", {
      locationId,
      pageLimit: 1,
      sort: [{ field: "dateUpdated", direction: "desc" }]
    })
    const { searchAfter, ...found } = newest.body["contacts"][0]
    assert.deepEqual(found, updated.body["contact"])
    assert.deepEqual(searchAfter, [Date.parse(found.dateUpdated), contact.id])

    assert.deepEqual((await s.send("DELETE", `/contacts/${contact.id}`)).body, { succeeded: true })
    assert.equal((await s.get(`/contacts/${contact.id}`)).status, 404)
    assert.equal((await s.send("DELETE", `/contacts/${contact.id}`)).status, 404)
  })

  it("is refused if it is invalid, or if an update contains fields that cannot change", async () => {
    assert.equal((await s.post("/contacts/", { firstName: "A" })).status, 422)
    assert.equal((await s.post("/contacts/", { locationId, phone: "2075550123" })).status, 422)
    assert.equal((await s.post("/contacts/", { locationId, tags: "vip" })).status, 400)
    const [{ id }] = (await s.records("contacts")) as [{ id: string }]
    for (const field of ["locationId", "gender", "companyName"]) {
      assert.equal((await s.send("PUT", `/contacts/${id}`, { [field]: "x" })).status, 422, field)
    }
  })

  it("has a lower-case email that follows the email in every update", async () => {
    const { contact } = (await s.post("/contacts/", { locationId, email: "Old@Example.com" })).body
    const update = async (fields: Json) => (await s.send("PUT", `/contacts/${contact.id}`, fields)).body["contact"]
    assert.equal((await update({ email: "New@Example.com" })).emailLowerCase, "new@example.com")
    assert.equal((await update({ firstName: "Ida" })).emailLowerCase, "new@example.com")
    assert.notProperty(await update({ email: "" }), "emailLowerCase")
    assert.equal((await update({ email: "New@Example.com" })).emailLowerCase, "new@example.com")
    assert.notProperty(await update({ email: null }), "emailLowerCase")
  })

  it("has the name that is sent, or else the name of its parts", async () => {
    const { contact } = (await s.post("/contacts/", { locationId, firstName: "A", lastName: "Z" })).body
    const update = async (fields: Json) => (await s.send("PUT", `/contacts/${contact.id}`, fields)).body["contact"]
    assert.equal((await update({ firstName: "B", name: "Custom Name" })).name, "Custom Name")
    assert.equal((await update({ city: "Bath" })).name, "Custom Name")
    assert.equal((await update({ firstName: "C" })).name, "C Z")
    assert.equal((await update({ name: "Only" })).firstName, "C")
  })

  it("lacks fields that a null has cleared, as do opportunities", async () => {
    const { contact } = (await s.post("/contacts/", { locationId, firstName: null, dnd: null, source: "x" })).body
    for (const name of ["firstName", "dnd"]) assert.notProperty(contact, name)
    const cleared = (await s.send("PUT", `/contacts/${contact.id}`, { source: null, assignedTo: null })).body["contact"]
    assert.isFalse(Object.values(cleared).includes(null))
    assert.notProperty(cleared, "source")
    const [deal] = await s.records("opportunities")
    const { body } = await s.send("PUT", `/opportunities/${deal!["id"]}`, { monetaryValue: null, source: null })
    for (const name of ["monetaryValue", "source"]) assert.notProperty(body["opportunity"], name)
  })

  it("needs a date of birth that exists, and texts in its DND settings", async () => {
    const status = async (fields: Json) => (await s.post("/contacts/", { locationId, ...fields })).status
    const days = "1990/02/03 02/03/1990 1990-02-03 02-03-1990 1990.02.03 02.03.1990 1990_02_03 02_03_1990".split(" ")
    for (const dateOfBirth of days) assert.equal(await status({ dateOfBirth }), 201, dateOfBirth)
    for (const dateOfBirth of ["31/01/1990", "1990-02-30", "1990-2-3", "1990-02.03", "soon"]) {
      assert.equal(await status({ dateOfBirth }), 422, dateOfBirth)
    }
    const active = { status: "active", message: "STOP", code: "103" }
    assert.equal(await status({ dndSettings: { sms: active }, inboundDndSettings: { all: active } }), 201)
    assert.equal(await status({ dndSettings: { sms: { ...active, message: 5 } } }), 400)
    assert.equal(await status({ dndSettings: { sms: { ...active, code: 103 } } }), 400)
    assert.equal(await status({ dndSettings: { sms: { message: "STOP" } } }), 422)
  })

  it("has notes, which are deleted with it", async () => {
    const { body } = await s.post("/contacts/", { locationId, firstName: "Note" })
    const path = `/contacts/${body["contact"].id}/notes`
    assert.deepEqual((await s.get(path)).body, { notes: [] })
    assert.equal((await s.post(path, {})).status, 422)
    const first = await s.post(path, { body: "one", pinned: true })
    assert.equal(first.status, 201)
    const { note } = first.body
    assert.deepEqual((await s.get(path)).body["notes"], [note])
    assert.deepEqual((await s.get(`${path}/${note.id}`)).body, { note })
    assert.equal((await s.get(`${path}/none`)).status, 404)
    await s.send("DELETE", `/contacts/${body["contact"].id}`)
    assert.equal((await s.get(path)).status, 404)
    assert.isFalse((await s.records("notes")).some((row) => row["id"] === note.id))
  })

  it("has the notes of the records, and a new note does not change it", async () => {
    const notes = await s.records("notes")
    const contactId = notes[0]!["contactId"]
    const { body } = await s.get(`/contacts/${contactId}/notes`)
    assert.deepEqual(
      body["notes"].map((note: { id: string }) => note.id).sort(),
      notes
        .filter((note) => note["contactId"] === contactId)
        .map((note) => note["id"])
        .sort()
    )
    const before = (await s.get(`/contacts/${contactId}`)).body
    await s.post(`/contacts/${contactId}/notes`, { body: "quiet" })
    assert.deepEqual((await s.get(`/contacts/${contactId}`)).body, before)
  })
})
