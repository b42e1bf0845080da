import { type IncomingMessage, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as wait } from "node:timers/promises"
import { afterAll, assert, describe, it } from "vitest"
import { type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 60 })
const { locationId } = s

/** The received deliveries, and the statuses of the next responses. */
const arrived: Array<{ url: string; headers: IncomingMessage["headers"]; body: Json; text: string }> = []
const statuses: Array<number> = []
const receiver = createServer((request, response) => {
  let text = ""
  request.on("data", (part: Buffer) => (text += part.toString()))
  request.on("end", () => {
    arrived.push({ url: request.url!, headers: request.headers, body: JSON.parse(text) as Json, text })
    response.writeHead(statuses.shift() ?? 200, { Location: "http://192.0.2.1/" }).end()
  })
})
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
afterAll(() => receiver.close())
const base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`

const workflow = async (trigger: string, more: Json = {}, step: Json = {}): Promise<string> => {
  const steps = [{ type: "custom_webhook", url: `${base}/${trigger}`, ...step }]
  return (await s.post("/__sandbox/workflows", { name: trigger, trigger, steps, ...more })).body["id"]
}

/** Waits until no delivery is pending, and removes and returns the received ones. */
const settled = async () => {
  while ((await s.get("/__sandbox/deliveries")).body["pending"] > 0) await wait(1)
  return arrived.splice(0)
}

describe("a published workflow with a custom-webhook step", () => {
  it("posts JSON when a contact is created, with the query and headers of the step", async () => {
    const id = await workflow("contact_created", {}, { query: { key: "s3" }, headers: { "X-Secret": "s4" } })
    const { contact } = (await s.post("/contacts/", { locationId, firstName: "Ada", phone: "+12075550142" })).body
    const [event, ...others] = await settled()
    assert.isEmpty(others)
    assert.equal(event!.url, "/contact_created?key=s3")
    assert.equal(event!.headers["x-secret"], "s4")
    assert.match(event!.headers["content-type"]!, /^application\/json/)
    const { dateAdded, firstName, phone, type } = event!.body
    assert.deepEqual([type, event!.body["locationId"], event!.body["id"]], ["contact_created", locationId, contact.id])
    assert.deepEqual([firstName, phone, dateAdded], ["Ada", "+12075550142", contact.dateAdded])
    await s.post("/__sandbox/workflows", { id, status: "draft" })
    await s.post("/contacts/", { locationId, firstName: "Quiet" })
    assert.isEmpty(await settled())
  })

  it("posts for every other trigger, and when a contact is enrolled", async () => {
    const triggers = "appointment_booked message_inbound message_outbound opportunity_stage_changed form_submitted"
    for (const trigger of `${triggers} opportunity_status_changed order_received`.split(" ")) await workflow(trigger)
    const [contact] = await s.records("contacts")
    const [calendar] = await s.records("calendars")
    const [opportunity] = await s.records("opportunities")
    const contactId = contact!["id"]
    const kinds = async () => [...new Set((await settled()).map((event) => event.body["type"] as string))].sort()
    const appointment = { locationId, contactId, calendarId: calendar!["id"], startTime: "2027-05-05T10:00:00Z" }
    await s.post("/calendars/events/appointments", appointment)
    await s.post("/conversations/messages", { type: "SMS", contactId, message: "hello" })
    assert.deepEqual(await kinds(), ["appointment_booked", "message_outbound"])
    const { stages } = (await s.get(`/opportunities/pipelines/${opportunity!["pipelineId"]}`)).body
    const other = stages.find((stage: Json) => stage["id"] !== opportunity!["pipelineStageId"]).id
    await s.send("PUT", `/opportunities/${opportunity!["id"]}`, { pipelineStageId: other, name: "Moved" })
    assert.deepEqual(await kinds(), ["opportunity_stage_changed"])
    await s.send("PUT", `/opportunities/${opportunity!["id"]}`, {
      status: opportunity!["status"] === "won" ? "lost" : "won"
    })
    assert.deepEqual(await kinds(), ["opportunity_status_changed"])
    const enrolled = await workflow("enrollment")
    await s.post(`/contacts/${contactId}/workflow/${enrolled}`)
    const [event] = await settled()
    assert.deepEqual([event!.body["type"], event!.body["id"]], ["enrollment", contactId])
    await s.post("/__sandbox/change", { conversations: 1, submissions: 0.1, orders: 0.1 })
    assert.includeMembers(await kinds(), ["form_submitted", "message_inbound", "order_received"])
  })

  it("repeats an event after a response other than 2xx, and fails after four attempts", async () => {
    const enrolled = await workflow("enrollment", {}, { url: `${base}/flaky` })
    const [contact] = await s.records("contacts")
    const enroll = () => s.post(`/contacts/${contact!["id"]}/workflow/${enrolled}`)
    statuses.push(500, 302)
    await enroll()
    const attempts = await settled()
    assert.equal(attempts.length, 3)
    assert.equal(new Set(attempts.map((event) => event.text)).size, 1)
    const before = (await s.get("/__sandbox/deliveries")).body["failed"]
    statuses.push(500, 500, 500, 500)
    await enroll()
    assert.equal((await settled()).length, 4)
    assert.equal((await s.get("/__sandbox/deliveries")).body["failed"], before + 1)
  })

  it("sends each event once, or twice if duplicates are configured", async () => {
    const [contact] = await s.records("contacts")
    const enroll = async (more: Json) => {
      const id = await workflow("enrollment", more, { url: `${base}/many` })
      for (let count = 0; count < 12; count++) await s.post(`/contacts/${contact!["id"]}/workflow/${id}`)
      return (await settled()).map((event) => event.body["eventId"] as string)
    }
    assert.equal(new Set(await enroll({})).size, 12)
    const twice = await enroll({ duplicates: 1, unordered: true })
    assert.deepEqual([twice.length, new Set(twice).size], [24, 12])
  })

  it("posts to this machine only", async () => {
    const [contact] = await s.records("contacts")
    for (const url of [
      "https://hooks.example/x",
      "http://192.0.2.1/",
      "http://127.0.0.1.example/",
      "ftp://127.0.0.1/"
    ]) {
      const { refused } = (await s.get("/__sandbox/deliveries")).body
      const id = await workflow("enrollment", {}, { url })
      await s.post(`/contacts/${contact!["id"]}/workflow/${id}`)
      assert.equal((await s.get("/__sandbox/deliveries")).body["refused"], refused + 1, url)
    }
  })

  it("is refused if it is invalid", async () => {
    const step = { type: "custom_webhook", url: base }
    for (const body of [
      { trigger: "full_moon", steps: [step] },
      { trigger: "enrollment" },
      { trigger: "enrollment", steps: [{ type: "wait" }] },
      { trigger: "enrollment", steps: [{ ...step, headers: { a: 1 } }] },
      { trigger: "enrollment", steps: [step], status: "paused" }
    ]) {
      assert.equal((await s.post("/__sandbox/workflows", body)).status, 400, JSON.stringify(body))
    }
    assert.equal((await s.post("/__sandbox/workflows", { id: "none" })).status, 404)
  })
})
