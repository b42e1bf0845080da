import { alias, boolean, count, identifier, json, openEnum, text } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

export const calendarResources = defineList({
  table: "calendar_resources",
  description: "Rooms and equipment that are booked with appointments.",
  source: "C 8.4 GET /calendars/resources/{resourceType}",
  scope: "calendars/resources.readonly",
  unproven: true,
  full: [
    byOffset(get("/calendars/resources/{partition}", { locationId: location, limit: size, skip: cursorOr(0) }), {
      records: "",
      pageSize: 100
    })
  ],
  partitions: { rooms: {}, equipments: {} },
  // The description shows no id.
  key: ["resource_type", "name"],
  fields: {
    _id: identifier("Id, where sent", { column: "resource_id" }),
    id: alias("_id"),
    resourceType: openEnum("`rooms` or `equipments`"),
    name: text("Name"),
    isActive: boolean("It can be booked"),
    description: text("What it is", { personal: "content" }),
    quantity: count("How many there are"),
    outOfService: count("How many are out of use"),
    capacity: count("How many people fit in"),
    calendarIds: json("Ids of the calendars with which it is booked, as sent")
  }
})
