import {
  address,
  changed,
  companyName,
  content,
  created,
  email,
  id,
  phone,
  place,
  postalCode,
  url
} from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"
import { actor } from "#catalog/shapes.ts"

export const businesses = defineList({
  table: "businesses",
  description: "Company records. Their custom properties are in object_records.",
  source: "C 3.1 GET /businesses/",
  scope: "businesses.readonly",
  unproven: true,
  full: [
    byOffset(get("/businesses/", { locationId: location, limit: size, skip: cursorOr(0) }), {
      records: "businesses",
      pageSize: 100
    })
  ],
  getOne: { request: get("/businesses/{businessId}"), record: "business" },
  version: "updatedAt",
  person: {},
  fields: {
    id: id("Company id; `business_id` elsewhere"),
    name: companyName("Name"),
    phone: phone("Phone"),
    email: email("Address for e-mail"),
    website: url("Web site"),
    address: address("Street and number"),
    city: place("City"),
    state: place("State or region"),
    postalCode: postalCode("Postal code"),
    country: place("Country, as text and not as a code"),
    description: content("What is written about it"),
    createdBy: actor("created_by", "Who made it"),
    updatedBy: actor("updated_by", "Who changed it last"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change")
  }
})
