import { invalid, notFound } from "../../http/errors.ts"
import { listed, pageOf } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import type { Data, Entry } from "../../account/collection.ts"
import { between, described, flag, integer, list, object, required, text } from "../../http/shape.ts"
import { windowOf } from "../../http/lists.ts"
import { instant } from "../../http/parameters.ts"
import { find, wrapRecord } from "../records.ts"
import { pageRows } from "./parts.ts"

const location = { in: "query", name: "locationId" } as const
const span = {
  startTime: required(described(integer, "Epoch milliseconds.")),
  endTime: required(described(integer, "Epoch milliseconds."))
}
const isWithin = ({ startTime }: Data, query: Data): boolean => {
  const at = instant(startTime) ?? 0
  return at >= Number(query["startTime"]) && at <= Number(query["endTime"])
}

/** What is beside calendars and appointments (C 8). */
export const furtherCalendarRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/calendars/groups",
    scope: "calendars/groups.readonly",
    location,
    summary: "List groups of calendars",
    returns: { groups: list(object()) },
    handle: (_, { world: { calendarGroups: rows } }) => pageOf("groups", listed(rows, [...rows.live()]), {})
  },
  {
    method: "GET",
    path: "/calendars/blocked-slots",
    scope: "calendars/events.readonly",
    location,
    summary: "List blocked slots of a user, calendar or group",
    query: { ...span, calendarId: text, userId: text, groupId: text },
    returns: { events: list(object()) },
    handle: ({ query }, { world: { blockedSlots } }) => {
      const { calendarId, groupId, userId } = query
      if ([calendarId, groupId, userId].every((id) => id === undefined))
        throw invalid("one of calendarId, userId and groupId is required")
      const rows = [...blockedSlots.live()].filter((row) => {
        const data = blockedSlots.data(row)
        const isOf = (userId ?? data["assignedUserId"]) === data["assignedUserId"]
        return isOf && (calendarId === undefined || data["calendarId"] === calendarId) && isWithin(data, query)
      })
      return pageOf("events", listed(blockedSlots, rows), {})
    }
  },
  {
    method: "GET",
    path: "/calendars/appointments/:appointmentId/notes",
    scope: "calendars/events.readonly",
    summary: "List the notes of an appointment",
    query: { limit: required(between(integer, 1, 20)), offset: required(between(integer, 0)) },
    returns: { notes: list(object()), hasMore: flag },
    handle: ({ params, query }, { world: { appointmentNotes, appointments } }) => {
      find(appointments, params["appointmentId"], "Appointment")
      const rows = appointmentNotes.children(params["appointmentId"]!)
      const hasMore = Number(query["offset"]) + Number(query["limit"]) < rows.length
      return pageOf("notes", listed(appointmentNotes, windowOf(query, rows)), { hasMore })
    }
  },
  {
    method: "GET",
    path: "/calendars/resources/:resourceType",
    scope: "calendars/resources.readonly",
    location,
    summary: "List rooms or equipment",
    query: { limit: required(between(integer, 1, 100)), skip: required(between(integer, 0)) },
    returns: list(object()),
    handle: ({ params, query }, { world: { calendarResources } }) => {
      const kind = params["resourceType"]
      if (kind !== "rooms" && kind !== "equipments") throw notFound(`Cannot GET /calendars/resources/${kind}`)
      const test = (row: Entry) => calendarResources.data(row)["resourceType"] === kind
      return pageRows(calendarResources, query, { key: kind, test }).texts
    }
  },
  {
    method: "GET",
    path: "/calendars/services/catalog",
    scope: "calendars.readonly",
    location,
    summary: "List services",
    query: { serviceCategoryId: text, isPrivate: flag },
    returns: { services: list(object()) },
    handle: ({ query }, { world: { services } }) => {
      const rows = [...services.live()].filter((row) => {
        const { isPrivate = false } = services.data(row)
        return (query["isPrivate"] ?? isPrivate) === isPrivate
      })
      return pageOf("services", listed(services, rows), {})
    }
  },
  {
    method: "GET",
    path: "/calendars/services/catalog/:serviceId",
    scope: "calendars.readonly",
    summary: "Get a service",
    returns: { service: object() },
    handle: ({ params }, { world: { services } }) =>
      wrapRecord("service", services, find(services, params["serviceId"], "Service"))
  },
  {
    method: "GET",
    path: "/calendars/services/locations",
    scope: "calendars.readonly",
    location,
    summary: "List places of services",
    returns: { serviceLocations: list(object()) },
    handle: (_, { world: { serviceLocations: rows } }) => pageOf("serviceLocations", listed(rows, [...rows.live()]), {})
  },
  {
    method: "GET",
    path: "/calendars/services/locations/:serviceLocationId",
    scope: "calendars.readonly",
    summary: "Get a place of services",
    returns: object(),
    handle: ({ params }, { world: { serviceLocations } }) =>
      serviceLocations.full(find(serviceLocations, params["serviceLocationId"], "Service location"))
  },
  {
    method: "GET",
    path: "/calendars/services/bookings",
    scope: "calendars/events.readonly",
    location,
    summary: "List bookings of services",
    query: { ...span, timezone: text, serviceLocationId: text },
    returns: { bookings: list(object()) },
    handle: ({ query }, { world: { serviceBookings } }) => {
      const rows = [...serviceBookings.live()].filter((row) => isWithin(serviceBookings.data(row), query))
      return pageOf("bookings", listed(serviceBookings, rows), {})
    }
  },
  {
    method: "GET",
    path: "/calendars/services/bookings/:bookingId",
    scope: "calendars/events.readonly",
    summary: "Get a booking of services",
    returns: object(),
    handle: ({ params }, { world: { serviceBookings } }) =>
      serviceBookings.full(find(serviceBookings, params["bookingId"], "Booking"))
  },
  {
    method: "GET",
    path: "/calendars/schedules/search",
    scope: "calendars.readonly",
    location,
    summary: "List the schedules of a user",
    query: {
      userId: required(text),
      calendarId: text,
      limit: described(between(integer, 1, 500), "Default 50."),
      skip: described(between(integer, 0), "Default 0.")
    },
    returns: { schedules: list(object()) },
    handle: ({ query }, { world: { schedules } }) =>
      pageOf(
        "schedules",
        listed(schedules, windowOf({ limit: 50, ...query }, schedules.children(String(query["userId"])))),
        {}
      )
  },
  {
    method: "GET",
    path: "/calendars/schedules/:id",
    scope: "calendars.readonly",
    summary: "Get a schedule",
    returns: { schedule: object() },
    handle: ({ params }, { world: { schedules } }) =>
      wrapRecord("schedule", schedules, find(schedules, params["id"], "Schedule"))
  }
]
