import { iso } from "../../account/clock.ts"
import { invalid } from "../../http/errors.ts"
import { listed, pageOf } from "../../http/pages.ts"
import { instant } from "../../http/parameters.ts"
import type { Answer, Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { type Shape, choice, described, integer, list, record, required, text, timestamp } from "../../http/shape.ts"
import { appointmentStatuses } from "./seeded-appointments.ts"
import { type Data, entry } from "../../account/collection.ts"
import { slotMinutes } from "./open-hours.ts"
import { checkUser, dropNulls, find, requireReference, wrapRecord } from "../records.ts"

const shape: Shape = {
  calendarId: text,
  contactId: text,
  startTime: timestamp,
  endTime: timestamp,
  title: text,
  appointmentStatus: choice(...appointmentStatuses),
  assignedUserId: text
}

/** Appointments, also called events (A 4.8). */
export const appointmentRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/calendars/events",
    scope: "calendars/events.readonly",
    location: { in: "query", name: "locationId" },
    summary: "List the events of a calendar, user or group",
    query: {
      calendarId: described(text, "One of calendarId, userId and groupId is required."),
      userId: text,
      groupId: text,
      startTime: required(described(integer, "Epoch milliseconds.")),
      endTime: required(described(integer, "Epoch milliseconds."))
    },
    returns: { events: list(record("Appointment")) },
    handle: (call, service) => events(call, service)
  },
  {
    method: "GET",
    path: "/calendars/events/appointments/:eventId",
    scope: "calendars/events.readonly",
    summary: "Get an appointment",
    returns: { event: record("Appointment") },
    handle: ({ params }, { world: { appointments } }) =>
      wrapRecord("event", appointments, find(appointments, params["eventId"], "Appointment"))
  },
  {
    method: "POST",
    path: "/calendars/events/appointments",
    scope: "calendars/events.write",
    location: { in: "body", name: "locationId" },
    summary: "Book an appointment",
    body: { ...shape, calendarId: required(text), contactId: required(text), startTime: required(timestamp) },
    status: 201,
    returns: record("Appointment"),
    handle: (call, service) => book(call, service)
  }
]

/** The response has all appointments of the window, ordered by start, without pages or count (field-notes 5). */
const events = ({ query }: Call, { world }: Service): Answer => {
  const { appointments } = world
  const wanted = Object.entries({ calendarId: "calendarId", userId: "assignedUserId", groupId: "groupId" }).flatMap(
    ([name, field]) => (query[name] === undefined ? [] : [{ field, id: String(query[name]) }])
  )
  if (wanted.length === 0) throw invalid("one of calendarId, userId and groupId is required")
  const [from, to] = [Number(query["startTime"]), Number(query["endTime"])]
  if (to < from) throw invalid("endTime must not be before startTime")
  // A full copy requests every calendar and user, so an index is used for the first id.
  const [first, ...others] = wanted
  const shown = appointments
    .lookup(first!.field, (data) => data[first!.field] as string | undefined, first!.id)
    .filter((row) => row.last >= from && row.last <= to)
    .filter((row) => others.every(({ field, id }) => appointments.data(row)[field] === id))
    .sort((a, b) => a.last - b.last)
  return pageOf("events", listed(appointments, shown), {})
}

const book = ({ body }: Call, service: Service): Answer => {
  const { clock, random, world } = service
  const fields = checked(body, service)
  const calendar = world.calendars.data(world.calendars.get(String(body["calendarId"]))!)
  const contact = world.contacts.data(world.contacts.get(String(body["contactId"]))!)
  const last = instant(body["startTime"])!
  const id = random.id()
  const now = clock.now()
  const source = dropNulls({
    id,
    locationId: world.context.locationId,
    groupId: calendar["groupId"],
    title: `${String(calendar["name"])} - ${String(contact["name"] ?? "")}`,
    appointmentStatus: "confirmed",
    endTime: iso(last + slotMinutes(calendar) * 60_000),
    ...fields,
    dateAdded: iso(now),
    dateUpdated: iso(now)
  })
  startOf(source)
  const parent = String(body["contactId"])
  service.deliveries.trigger("appointment_booked", source)
  const booked = world.appointments.add(entry({ id, parent, created: now, last, source }))
  return world.appointments.full(booked)
}

/** Checks the references of the fields, and converts their timestamps to UTC. */
const checked = (body: Data, service: Service): Data => {
  const { world } = service
  if (body["calendarId"] !== undefined) requireReference(world.calendars, body["calendarId"], "calendarId")
  if (body["contactId"] !== undefined) requireReference(world.contacts, body["contactId"], "contactId")
  checkUser(body["assignedUserId"], "assignedUserId", service)
  const times = ["startTime", "endTime"].flatMap((name) =>
    body[name] === undefined ? [] : [[name, iso(instant(body[name])!)]]
  )
  return { ...body, ...Object.fromEntries(times) }
}

const startOf = ({ endTime, startTime }: Data): number => {
  const [start, end] = [instant(startTime), instant(endTime)]
  if (start === undefined || end === undefined || end <= start) throw invalid("endTime must be after startTime")
  return start
}
