import {
  boolean,
  changed,
  created,
  date,
  enumeration,
  id,
  json,
  place,
  ref,
  rows,
  text,
  values
} from "#catalog/fields.ts"
import { cursorOr, get, location, parent, size } from "#catalog/request.ts"
import { byOffset, defineChild } from "#catalog/resource.ts"

export const schedules = defineChild({
  table: "schedules",
  description: "Hours in which users can be booked.",
  source: "C 8.8 GET /calendars/schedules/search",
  scope: "calendars.readonly",
  unproven: true,
  singleReads: "never",
  childOf: {
    table: "users",
    column: "user_id",
    refreshAfter: "20 hours",
    strategy: byOffset(
      get("/calendars/schedules/search", { locationId: location, userId: parent, limit: size, skip: cursorOr(0) }),
      { records: "schedules", pageSize: 500 }
    )
  },
  getOne: { request: get("/calendars/schedules/{id}"), record: "schedule" },
  tombstone: "deleted",
  fields: {
    id: id("Schedule id"),
    name: text("Name"),
    userId: ref("users", "Whose hours they are"),
    timezone: place("Time zone of the hours"),
    calendarIds: values(
      "schedule_calendars",
      "Calendars of each schedule.",
      "calendar_id",
      ref("calendars", "The calendar")
    ),
    rules: rows("schedule_rules", "Hours of each schedule, by weekday and by date.", {
      type: enumeration(["wday", "date"]),
      day: enumeration("sunday monday tuesday wednesday thursday friday saturday".split(" "), "Weekday, if it is one"),
      date: date("Date, if it is one"),
      intervals: json("Begin and end of each interval, as sent; without any, closed")
    }),
    dateAdded: created("When it was made"),
    dateUpdated: changed("Last change"),
    deleted: boolean("Removed")
  }
})
