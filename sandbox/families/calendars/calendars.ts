import { listed, pageOf } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import { between, described, integer, list, object, record, required, text } from "../../http/shape.ts"
import { find, wrapRecord } from "../records.ts"
import { freeSlots } from "./free-slots.ts"

/** Epoch milliseconds, up to a year before the end of the year 9999, because ranges may extend beyond. */
const epoch = between(integer, 0, 253_370_000_000_000)

/** Calendars and their free slots (A 4.8). */
export const calendarRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/calendars/",
    scope: "calendars.readonly",
    location: { in: "query", name: "locationId" },
    summary: "List calendars",
    returns: { calendars: list(record("Calendar")) },
    handle: (_, { world: { calendars } }) => pageOf("calendars", listed(calendars, [...calendars.live()]), {})
  },
  {
    method: "GET",
    path: "/calendars/:calendarId",
    scope: "calendars.readonly",
    summary: "Get a calendar",
    returns: { calendar: record("Calendar") },
    handle: ({ params }, { world: { calendars } }) =>
      wrapRecord("calendar", calendars, find(calendars, params["calendarId"], "Calendar"))
  },
  {
    method: "GET",
    path: "/calendars/:calendarId/free-slots",
    scope: "calendars.readonly",
    summary: "List free slots by day",
    query: {
      startDate: required(described(epoch, "Epoch milliseconds.")),
      endDate: required(described(epoch, "Epoch milliseconds, at most 31 days later.")),
      timezone: described(text, "IANA name; that of the location unless sent.")
    },
    returns: object(),
    handle: (call, service) => freeSlots(call, service)
  }
]
