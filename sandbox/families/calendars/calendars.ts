import { listed, pageOf } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import {
  type Shape,
  between,
  choice,
  described,
  flag,
  integer,
  list,
  number,
  object,
  record,
  required,
  text
} from "../../http/shape.ts"
import { entry } from "../../account/collection.ts"
import { openHours } from "./open-hours.ts"
import { dropNulls, find, wrapRecord } from "../records.ts"
import { freeSlots } from "./free-slots.ts"

const shape: Shape = {
  name: text,
  description: text,
  calendarType: text,
  slotDuration: between(number, 1, 10_000),
  slotDurationUnit: choice("mins", "hours"),
  groupId: text,
  openHours,
  isActive: flag
}

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
    method: "POST",
    path: "/calendars/",
    scope: "calendars.write",
    location: { in: "body", name: "locationId" },
    summary: "Create a calendar",
    body: { ...shape, name: required(text) },
    isOpen: true,
    returns: { calendar: record("Calendar") },
    handle: ({ body }, { clock, random, world }) => {
      const id = random.id()
      const defaults = { calendarType: "event", slotDuration: 30, slotDurationUnit: "mins" }
      const source = dropNulls({ ...defaults, ...body, id, locationId: world.context.locationId })
      const calendar = world.calendars.add(entry({ id, created: clock.now(), source }))
      return wrapRecord("calendar", world.calendars, calendar)
    }
  },
  {
    method: "PUT",
    path: "/calendars/:calendarId",
    scope: "calendars.write",
    summary: "Update a calendar",
    body: shape,
    isOpen: true,
    returns: { calendar: record("Calendar") },
    handle: ({ body, params }, { clock, world: { calendars } }) => {
      const old = find(calendars, params["calendarId"], "Calendar")
      const { id, locationId, ...data } = calendars.data(old)
      const source = dropNulls({ ...data, ...body, id, locationId })
      const next = calendars.replace(old, entry({ ...old, updated: clock.now(), source }))
      return wrapRecord("calendar", calendars, next)
    }
  },
  {
    method: "DELETE",
    path: "/calendars/:calendarId",
    scope: "calendars.write",
    summary: "Delete a calendar",
    returns: { success: flag },
    // Its appointments remain, and can be found by their user (field-notes 5).
    handle: ({ params }, { world: { calendars } }) => {
      calendars.remove(find(calendars, params["calendarId"], "Calendar"))
      return { success: true }
    }
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
