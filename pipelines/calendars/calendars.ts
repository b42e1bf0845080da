import { choice, decimal, id, ref, text } from "#catalog/fields.ts"
import { get, location } from "#catalog/request.ts"
import { define } from "#catalog/resource.ts"

export const calendars = define({
  table: "calendars",
  description: "Calendars that appointments are booked in. Settings without a document are in `_extra`.",
  source: "A 2.11, A 4.8 GET /calendars/",
  scope: "calendars.readonly",
  full: [
    {
      request: get("/calendars/", { locationId: location, showDrafted: true }),
      paging: { kind: "once" },
      records: "calendars",
      pageSize: 1000
    }
  ],
  single: get("/calendars/{parent}"),
  fields: {
    id: id("Calendar id"),
    name: text("Name"),
    description: text("What the calendar is for"),
    calendarType: choice("Kind of calendar, for example `event`"),
    slotDuration: decimal("Length of an appointment, in `slot_duration_unit`"),
    slotDurationUnit: choice("Unit of that length, for example `mins`"),
    locationId: ref("locations", "The location", { column: "location_id" })
  }
})
