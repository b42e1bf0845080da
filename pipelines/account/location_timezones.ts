import { text } from "#catalog/fields.ts"
import { get } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

export const locationTimezones = defineList({
  table: "location_timezones",
  description: "Time zones the location offers.",
  source: "A 4.6 GET /locations/{locationId}/timezones",
  scope: "locations.readonly",
  key: ["timezone"],
  full: [inOnePage(get("/locations/{locationId}/timezones"), { records: "" })],
  // The documents show an array in `timezones`. No response of the service is published, so zones in any member are read.
  isReshaped: true,
  transform: (answer) =>
    [answer, Object(answer).timezones, ...Object.values(Object(answer)).filter(hasZone)].find(Array.isArray) ?? [
      answer
    ],
  fields: { value: text("IANA time zone", { column: "timezone" }) }
})

function hasZone(member: unknown): boolean {
  return Array.isArray(member) && member.some((zone) => /^(UTC|GMT|\w+\/\w.*)$/.test(String(zone)))
}
