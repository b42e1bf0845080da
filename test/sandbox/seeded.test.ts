import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "./client.ts"

const now = Date.UTC(2026, 5, 1)
const s = await sandbox({ contacts: 150, now })
const collections = "customFields objectFields folders templates recurringTasks workflows calendars appointments emails"

describe("the seeded account", () => {
  it("is the same for the same seed and time", async () => {
    const again = await sandbox({ contacts: 150, now })
    for (const name of `${collections} transcripts`.split(" ")) {
      assert.deepEqual(await again.records(name), await s.records(name), name)
    }
  })

  it("refers to records that exist", async () => {
    const known = async (name: string) => new Set((await s.records(name)).map((row) => row["id"]))
    const [contacts, calendars, messages, users] = [
      await known("contacts"),
      await known("calendars"),
      await known("messages"),
      await known("users")
    ]
    for (const row of await s.records("appointments")) {
      assert.isTrue(contacts.has(row["contactId"]) && calendars.has(row["calendarId"]))
      if (row["assignedUserId"] !== undefined) assert.isTrue(users.has(row["assignedUserId"]))
    }
    for (const row of await s.records("emails")) assert.isTrue(messages.has(row["threadId"]))
    for (const row of await s.records("transcripts")) assert.isTrue(messages.has(row["messageId"]))
    for (const row of await s.records("recurringTasks")) {
      if (row["contactId"] !== undefined) assert.isTrue(contacts.has(row["contactId"]))
    }
  })

  it("has every documented field of a resource in some record", async () => {
    const fields: Record<string, string> = {
      emails:
        "id threadId locationId contactId conversationId dateAdded body direction contentType from to subject cc bcc",
      appointments: "id calendarId locationId contactId title appointmentStatus startTime endTime",
      calendars: "id locationId name description calendarType slotDuration slotDurationUnit",
      templates: "id name type template dateAdded locationId urlAttachments",
      recurringTasks: "id title description rruleOptions locationId createdAt updatedAt totalOccurrence deleted",
      objectFields:
        "id locationId name description placeholder fieldKey dataType objectKey parentId showInForms options " +
        "allowCustomOption acceptedFormats maxFileLimit",
      customFields:
        "id name fieldKey dataType model placeholder position locationId picklistOptions maxFileLimit " +
        "isMultiFileAllowed isAllowedCustomOption acceptedFormat picklistImageOptions textBoxListOptions urlValidation " +
        "dateTimeValidation userFieldConfig optionDisplayType",
      folders: "id locationId name objectKey",
      workflows: "id name status"
    }
    for (const [name, list] of Object.entries(fields)) {
      const present = new Set((await s.records(name)).flatMap((row) => Object.keys(row)))
      for (const field of list.split(" ")) assert.isTrue(present.has(field), `${name}.${field}`)
    }
  })

  it("has the last activity of contacts in ISO 8601", async () => {
    const shown = (await s.records("contacts")).map((row) => row["lastActivity"]).filter((own) => own !== undefined)
    assert.isNotEmpty(shown)
    assert.isTrue(shown.every((own) => own === new Date(own).toISOString()))
  })

  it("has lower-case emails only for contacts with emails, and the fields of contacts in opportunities", async () => {
    const contacts = new Map((await s.records("contacts")).map((row) => [row["id"], row]))
    for (const { email, emailLowerCase } of contacts.values()) {
      assert.isTrue(emailLowerCase === undefined || emailLowerCase === email.toLowerCase())
    }
    for (const { contact, contactId } of await s.records("opportunities")) {
      const own = contacts.get(contactId)!
      for (const name of ["id", "name", "companyName", "email", "phone", "tags"]) {
        assert.deepEqual(contact[name], own[name], name)
      }
    }
  })

  it("has every documented status of a message and of a call, and every documented type of message", async () => {
    const rich = await sandbox({ contacts: 1000, now })
    const messages = await rich.records("messages")
    const seen = (read: (row: Json) => unknown) => new Set(messages.map(read))
    const [statuses, calls] = [seen((row) => row["status"]), seen((row) => row["meta"]?.callStatus)]
    const documented = "connected delivered failed opened pending read scheduled sent undelivered clicked opt_out"
    for (const status of documented.split(" ")) assert.isTrue(statuses.has(status), status)
    const ofCalls = "pending completed answered busy no-answer failed canceled voicemail"
    for (const status of ofCalls.split(" ")) assert.isTrue(calls.has(status), status)
    const types = seen((row) => row["messageType"])
    for (const type of ["PAYMENT", "EMPLOYEE_ACTION_LOG", "INVOICE", "APPOINTMENT", "CONTACT", "OPPORTUNITY"]) {
      assert.isTrue(types.has(`TYPE_ACTIVITY_${type}`), type)
    }
  })

  it("has the page of each message of a social channel", async () => {
    const messages = await s.records("messages")
    for (const [type, member] of [
      ["TYPE_FACEBOOK", "fb"],
      ["TYPE_INSTAGRAM", "ig"]
    ] as const) {
      const own = messages.filter((row) => row["messageType"] === type)
      assert.isNotEmpty(own, type)
      assert.isTrue(own.every((row) => typeof row["meta"][member].pageId === "string"))
    }
  })

  it("serves an account without any contact", async () => {
    const empty = await sandbox({ contacts: 0 })
    for (const name of collections.split(" ")) {
      const records = await empty.records(name)
      if (name === "appointments" || name === "emails") assert.isEmpty(records, name)
      else assert.isNotEmpty(records, name)
    }
    const at = `locationId=${empty.locationId}`
    assert.deepEqual((await empty.get(`/contacts/lookup?${at}&email=a@b.example`)).body, { contacts: [] })
    const [calendar] = (await empty.get(`/calendars/?${at}`)).body["calendars"] as Array<Json>
    const window = `calendarId=${calendar!["id"]}&startTime=0&endTime=9999999999999`
    assert.deepEqual((await empty.get(`/calendars/events?${at}&${window}`)).body, { events: [] })
  })

  it("can be written in the malformed world", async () => {
    const nasty = await sandbox({ contacts: 150, now, world: "nasty" })
    for (const name of `${collections} transcripts`.split(" ")) assert.isNotEmpty(await nasty.records(name), name)
    for (const contact of (await nasty.records("contacts")).slice(0, 60)) {
      const path = `/contacts/${encodeURIComponent(contact["id"])}`
      assert.equal((await nasty.send("PUT", path, { tags: ["x"] })).status, 200)
      assert.equal((await nasty.get(`${path}/tasks`)).status, 200)
    }
    for (const deal of (await nasty.records("opportunities")).slice(0, 20)) {
      assert.equal((await nasty.send("PUT", `/opportunities/${deal["id"]}`, { status: "won" })).status, 200)
    }
    const [pipeline] = await nasty.records("pipelines")
    assert.equal((await nasty.send("DELETE", `/opportunities/pipelines/${pipeline!["id"]}`)).status, 200)
  })
})
