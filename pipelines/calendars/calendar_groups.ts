import { boolean, id, text } from "#catalog/fields.ts"
import { get, location } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

export const calendarGroups = defineList({
  table: "calendar_groups",
  description: "Groups of calendars.",
  source: "C 8.1 GET /calendars/groups",
  scope: "calendars/groups.readonly",
  unproven: true,
  full: [inOnePage(get("/calendars/groups", { locationId: location }), { records: "groups" })],
  fields: {
    id: id("Group id; `group_id` elsewhere"),
    name: text("Name"),
    description: text("What the group is for", { personal: "content" }),
    slug: text("Name in the web address of the group"),
    isActive: boolean("Appointments can be booked")
  }
})
