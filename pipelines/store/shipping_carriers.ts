import { boolean, changed, created, id, identifier, json, secret, text } from "#catalog/fields.ts"
import { altLocation, get } from "#catalog/request.ts"
import { defineList, inOnePage } from "#catalog/resource.ts"
import { altFields } from "#catalog/shapes.ts"

export const shippingCarriers = defineList({
  table: "shipping_carriers",
  description: "Carriers that compute what it costs to send.",
  source: "C 15.5 GET /store/shipping-carrier",
  scope: "any",
  unproven: true,
  full: [
    inOnePage(get("/store/shipping-carrier", altLocation), {
      records: "data",
      beside: { status: "true", message: "text" }
    })
  ],
  getOne: { request: get("/store/shipping-carrier/{shippingCarrierId}", altLocation), record: "data" },
  version: "updatedAt",
  fields: {
    _id: id("Carrier id"),
    name: text("Name"),
    // The address of another service, which may have a key in it.
    callbackUrl: secret,
    services: json("Services, as sent"),
    allowsMultipleServiceSelection: boolean("Several services can be chosen"),
    marketplaceAppId: identifier("App that it comes with"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    ...altFields
  }
})
