import { assert, describe, it } from "vitest"
import { ids, type Json, sandbox } from "./client.ts"

const now = Date.UTC(2027, 0, 4, 5)
const s = await sandbox({ contacts: 200, now })
const { locationId } = s
const day = 86_400_000
const monday = Date.UTC(2027, 0, 11)

const calendars = async (): Promise<Array<Json>> =>
  (await s.get(`/calendars/?locationId=${locationId}`)).body["calendars"]
const book = async (fields: Json) => {
  const [contact] = await s.records("contacts")
  return s.post("/calendars/events/appointments", { locationId, contactId: contact!["id"], ...fields })
}

describe("a calendar", () => {
  it("can be listed and read", async () => {
    const [first] = await calendars()
    assert.deepEqual((await s.get(`/calendars/${first!["id"]}`)).body, { calendar: first })
    assert.equal((await s.get("/calendars/none")).status, 404)
    assert.equal((await s.get("/calendars/")).status, 422)
  })
})

describe("free slots", () => {
  const slots = async (id: string, query: string) => s.get(`/calendars/${id}/free-slots?${query}`)

  it("are within the opening hours, have the offset of the time zone, and do not overlap appointments", async () => {
    const openHours = [{ daysOfTheWeek: [1], hours: [{ openHour: 9, closeHour: 11 }] }]
    const id = "mondays"
    const fields = { name: "Mondays", slotDuration: 1, slotDurationUnit: "hours", openHours }
    const [like] = await calendars()
    await s.post("/__sandbox/plant", { collection: "calendars", like: like!["id"], id, fields })
    const week = `startDate=${monday}&endDate=${monday + 7 * day}`
    assert.deepEqual((await slots(id, week)).body, {
      "2027-01-11": { slots: ["2027-01-11T09:00:00-05:00", "2027-01-11T10:00:00-05:00"] }
    })
    assert.deepEqual((await slots(id, `${week}&timezone=Asia/Tokyo`)).body, {
      "2027-01-11": { slots: ["2027-01-11T23:00:00+09:00"] },
      "2027-01-12": { slots: ["2027-01-12T00:00:00+09:00"] }
    })
    const times = { startTime: "2027-01-11T09:30:00-05:00", endTime: "2027-01-11T10:00:00-05:00" }
    await book({ calendarId: id, ...times, appointmentStatus: "cancelled" })
    assert.equal((await slots(id, week)).body["2027-01-11"].slots.length, 2)
    await book({ calendarId: id, ...times })
    assert.deepEqual((await slots(id, week)).body["2027-01-11"].slots, ["2027-01-11T10:00:00-05:00"])
  })

  it("are in the future, and a request covers at most 31 days", async () => {
    const [calendar] = await calendars()
    const statusOf = async (query: string) => (await slots(calendar!["id"], query)).status
    assert.equal(await statusOf(`startDate=${monday}&endDate=${monday + 31 * day}`), 200)
    assert.equal(await statusOf(`startDate=${monday}&endDate=${monday + 32 * day}`), 422)
    assert.equal(await statusOf(`startDate=${monday}&endDate=${monday - day}`), 422)
    assert.equal(await statusOf(`startDate=${monday}`), 422)
    assert.equal(await statusOf("startDate=2027-01-11&endDate=2027-01-12"), 400)
    assert.equal(await statusOf(`startDate=${monday}&endDate=${monday + day}&timezone=Mars/Olympus`), 422)
    const past = Date.UTC(2025, 0, 6)
    assert.deepEqual((await slots(calendar!["id"], `startDate=${past}&endDate=${past + 7 * day}`)).body, {})
    assert.equal((await slots("none", `startDate=${monday}&endDate=${monday}`)).status, 404)
  })
})

describe("appointments", () => {
  const events = (query: string) => s.get(`/calendars/events?locationId=${locationId}&${query}`)

  it("cover three years and the future, and are found by calendar, user or group in a window", async () => {
    const all = await s.records("appointments")
    const starts = all.map((row) => Date.parse(row["startTime"]))
    assert.isBelow(Math.min(...starts), now - 1000 * day)
    assert.isAbove(Math.max(...starts), now + 100 * day)
    const [from, to] = [now - 400 * day, now + 30 * day]
    const window = `startTime=${from}&endTime=${to}`
    for (const [name, field] of [
      ["calendarId", "calendarId"],
      ["userId", "assignedUserId"],
      ["groupId", "groupId"]
    ] as const) {
      const id = all.find((row) => row[field])![field]
      const expected = all.filter((row, index) => row[field] === id && starts[index]! >= from && starts[index]! <= to)
      assert.deepEqual(ids((await events(`${window}&${name}=${id}`)).body["events"]), ids(expected), name)
    }
    assert.equal((await events(window)).status, 422)
    assert.equal((await events("calendarId=x")).status, 422)
    assert.equal((await events("calendarId=x&startTime=2027-01-01&endTime=1")).status, 400)
    assert.equal((await s.get(`/calendars/events?${window}&calendarId=x`)).status, 422)
  })

  it("can be booked and read, and only a read is wrapped in an object", async () => {
    const [calendar] = await calendars()
    const { body, status } = await book({ calendarId: calendar!["id"], startTime: "2027-03-01T10:00:00-05:00" })
    assert.equal(status, 201)
    assert.deepEqual([body["startTime"], body["endTime"]], ["2027-03-01T15:00:00.000Z", "2027-03-01T16:00:00.000Z"])
    assert.deepEqual((await s.get(`/calendars/events/appointments/${body["id"]}`)).body, { event: body })
    const march = Date.UTC(2027, 2, 1)
    const found = await events(`calendarId=${calendar!["id"]}&startTime=${march}&endTime=${march + day}`)
    assert.include(ids(found.body["events"]), body["id"])
    assert.equal((await s.get("/calendars/events/appointments/none")).status, 404)
  })

  it("need a calendar, a contact, a start and a known status", async () => {
    const [calendar] = await calendars()
    const fields = { calendarId: calendar!["id"], startTime: "2027-03-01T10:00:00Z" }
    assert.equal((await book({ ...fields, calendarId: undefined })).status, 422)
    assert.equal((await book({ ...fields, calendarId: "none" })).status, 422)
    assert.equal((await book({ ...fields, contactId: "none" })).status, 422)
    assert.equal((await book({ ...fields, startTime: "noon" })).status, 422)
    assert.equal((await book({ ...fields, startTime: 1_800_000_000_000 })).status, 400)
    assert.equal((await book({ ...fields, endTime: "2027-03-01T09:00:00Z" })).status, 422)
    assert.equal((await book({ ...fields, appointmentStatus: "maybe" })).status, 422)
    assert.equal((await book({ ...fields, locationId: "other" })).status, 403)
  })
})
