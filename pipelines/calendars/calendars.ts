import { choice, id, decimal, ref, text } from "#catalog/fields.ts"
import { get, location } from "#catalog/request.ts"
import type { Parameters } from "#catalog/request.ts"
import { define } from "#catalog/resource.ts"
import type { Way } from "#catalog/resource.ts"

const list = (parameters: Parameters): Way => ({
  request: get("/calendars/", { locationId: location, ...parameters }),
  paging: { kind: "once" },
  records: "calendars",
  pageSize: 1000
})

export const calendars = define({
  table: "calendars",
  description: "Calendars that appointments are booked in. Settings without a document are in `_extra`.",
  source: "A 2.11, A 4.8 GET /calendars/",
  scope: "calendars.readonly",
  // Drafts are shown where they are asked for; the documents do not know the word.
  full: [list({ showDrafted: true }), list({})],
  single: get("/calendars/{parent}"),
  fields: {
    id: id("Calendar id"),
    name: text("Name"),
    description: text("What the calendar is for", { personal: "content" }),
    calendarType: choice("Kind of calendar, for example `event`"),
    slotDuration: decimal("Length of an appointment, in `slot_duration_unit`"),
    slotDurationUnit: choice("Unit of that length, for example `mins`"),
    locationId: ref("locations", "The location", { column: "location_id" })
  }
})
