import { text } from "#catalog/fields.ts"
import { get } from "#catalog/request.ts"
import { defineList } from "#catalog/resource.ts"

export const locationTimezones = defineList({
  table: "location_timezones",
  description: "Time zones the location offers.",
  source: "A 4.6 GET /locations/{locationId}/timezones",
  scope: "locations.readonly",
  key: ["timezone"],
  full: [
    {
      request: get("/locations/{locationId}/timezones"),
      paging: { kind: "once" },
      records: "",
      pageSize: 1000
    }
  ],
  // Documented as a list under `timezones`; no example of a live answer is public.
  transform: (answer) =>
    (Array.isArray(answer) ? answer : Object.values(Object(answer)).find(Array.isArray)) ?? [answer],
  fields: { value: text("IANA time zone", { column: "timezone" }) }
})
