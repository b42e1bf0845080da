import { boolean, count, decimal, enumeration, id, identifier, object, ref, rows, text, url } from "#catalog/fields.ts"
import { get, location } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"

const unit = (of: string) => enumeration(["mins", "hours"], `Unit of ${of}`)
const duration = {
  serviceDuration: count("Length, in `service_duration_unit`"),
  serviceDurationUnit: unit("the length"),
  preBuffer: count("Time kept free before, in `pre_buffer_unit`"),
  preBufferUnit: unit("that time"),
  postBuffer: count("Time kept free after, in `post_buffer_unit`"),
  postBufferUnit: unit("that time"),
  payment: object({
    amount: decimal("Price in `locations.currency`", { personal: "financial" }),
    deposit: decimal("Paid when booking: in that currency, or per cent", { personal: "financial" }),
    depositType: enumeration(["percentage", "amount"], "What the deposit is")
  })
}

export const services = defineList({
  table: "services",
  description: "Services that can be booked.",
  source: "C 8.5 GET /calendars/services/catalog",
  scope: "calendars.readonly",
  unproven: true,
  full: [inOnePage(get("/calendars/services/catalog", { locationId: location }), { records: "services" })],
  getOne: { request: get("/calendars/services/catalog/{serviceId}"), record: "service" },
  fields: {
    id: id("Service id"),
    name: text("Name"),
    description: text("What it is", { personal: "content" }),
    slug: text("Name in its web address"),
    eventColor: text("Colour, as a hex code"),
    coverImage: url("Picture", { personal: "none" }),
    serviceCategoryId: identifier("Its category, of which there is no list"),
    formId: ref("forms", "Form filled in when booking"),
    isPrivate: boolean("It is not shown to everybody"),
    ...duration,
    variations: rows(
      "service_variations",
      "Variants of each service.",
      { id: id("Variant id"), name: text("Name"), ...duration },
      ["id"]
    ),
    staff: rows(
      "service_members",
      "Who carries out each service.",
      { id: identifier("Id of the member of staff", { column: "staff_id" }) },
      ["staff_id"]
    )
  }
})
