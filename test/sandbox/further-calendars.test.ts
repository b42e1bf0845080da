/** What is beside calendars in document 3, and the tags and texts of a location. */
import { assert, describe, it } from "vitest"
import { type Json, ids, sandbox } from "./client.ts"
import { statuses } from "./documents/walk.ts"

const s = await sandbox({ contacts: 60 })
const query = `?locationId=${s.locationId}`
const location = `/locations/${s.locationId}`
const always = "&startTime=946684800000&endTime=4102444800000"

describe("lists at once", () => {
  it.each([
    [`${location}/tags`, "tags", "location_tags", "tag"],
    [`${location}/customValues`, "customValues", "custom_values", "customValue"],
    ["/calendars/groups", "groups", "calendar_groups", undefined],
    ["/calendars/services/catalog", "services", "services", "service"],
    ["/calendars/services/locations", "serviceLocations", "service_locations", ""]
  ])("%s has every record, and a single read where there is one", async (path, member, collection, single) => {
    const records = await s.records(collection)
    const { body } = await s.get(`${path}${path.startsWith(location) ? "" : query}`)
    assert.deepEqual(ids(body[member]), ids(records))
    assert.isUndefined(body["total"])
    if (single === undefined) return
    const one = (await s.get(`${path}/${records[0]!["id"]}`)).body
    assert.deepEqual(single === "" ? one : one[single], records[0])
  })
})

describe("blocked slots, schedules and notes", () => {
  it("are listed for one user, within times, or for one appointment", async () => {
    const [slot] = await s.records("blocked_slots")
    const slots = `/calendars/blocked-slots${query}`
    const { events } = (await s.get(`${slots}${always}&userId=${slot!["assignedUserId"]}`)).body
    assert.include(ids(events), slot!["id"])
    const before = (await s.get(`${slots}&startTime=0&endTime=1&userId=${slot!["assignedUserId"]}`)).body["events"]
    assert.deepEqual(before, [])
    const [schedule] = await s.records("schedules")
    const search = `/calendars/schedules/search${query}`
    const { schedules } = (await s.get(`${search}&userId=${schedule!["userId"]}`)).body
    assert.include(ids(schedules), schedule!["id"])
    assert.deepEqual((await s.get(`/calendars/schedules/${schedule!["id"]}`)).body["schedule"], schedule)
    const appointments = await s.records("appointments")
    const notes = `/calendars/appointments/${appointments[0]!["id"]}/notes`
    const { body } = await s.get(`${notes}?limit=1&offset=0`)
    assert.deepEqual([body["notes"].length, body["hasMore"]], [1, true])
    const refused = [
      s.get(`${slots}${always}`),
      s.get(`${slots}&userId=x`),
      s.get(search),
      s.get(`${search}&userId=x&limit=501`),
      s.get(notes),
      s.get(`${notes}?limit=21&offset=0`)
    ]
    assert.deepEqual(await statuses(refused), [422, 422, 422, 400, 422, 400])
  })
})

describe("rooms, equipment and bookings", () => {
  it("have no id, or one of another name", async () => {
    const rooms = (await s.get(`/calendars/resources/rooms${query}&limit=100&skip=0`)).body as unknown as Array<Json>
    assert.lengthOf(rooms, 2)
    assert.isTrue(rooms.every((one) => one["id"] === undefined && one["_id"] === undefined))
    const { bookings } = (await s.get(`/calendars/services/bookings${query}${always}`)).body
    assert.isNotEmpty(bookings)
    assert.isTrue(bookings.every((one: Json) => one["id"] === undefined))
    const [{ bookingId }] = bookings
    assert.deepEqual((await s.get(`/calendars/services/bookings/${bookingId}`)).body, bookings[0])
    const refused = [
      s.get(`/calendars/resources/rooms${query}`),
      s.get(`/calendars/resources/boats${query}&limit=1&skip=0`),
      s.get(`/calendars/services/bookings${query}`)
    ]
    assert.deepEqual(await statuses(refused), [422, 404, 422])
  })
})
