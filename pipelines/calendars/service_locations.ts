import { address, boolean, enumeration, id, phone, text, url } from "#catalog/fields.ts"
import { get, location } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

export const serviceLocations = defineList({
  table: "service_locations",
  description: "Places where services are carried out.",
  source: "C 8.6 GET /calendars/services/locations",
  scope: "calendars.readonly",
  unproven: true,
  full: [inOnePage(get("/calendars/services/locations", { locationId: location }), { records: "serviceLocations" })],
  getOne: { request: get("/calendars/services/locations/{serviceLocationId}"), record: "" },
  fields: {
    id: id("Place id"),
    name: text("Name"),
    slug: text("Name in its web address"),
    isActive: boolean("It can be chosen"),
    isPrivate: boolean("It is not shown to everybody"),
    coverImage: url("Picture", { personal: "none" }),
    locationType: enumeration(["offline", "ask_booker"], "Whether the address is given, or asked of who books"),
    address: address("Street address, or what who books is asked"),
    phone: phone("Phone of the place")
  }
})
