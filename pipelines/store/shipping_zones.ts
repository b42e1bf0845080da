import { boolean, changed, created, decimal, enumeration, id, json, ref, rows, text } from "#catalog/fields.ts"
import { altLocation, cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"
import { altFields } from "#catalog/shapes.ts"

const money = { personal: "financial" } as const

export const shippingZones = defineList({
  table: "shipping_zones",
  description: "Countries to which the store sends, with what that costs.",
  source: "C 15.3 GET /store/shipping-zone",
  scope: "any",
  unproven: true,
  full: [
    byOffset(
      get("/store/shipping-zone", { ...altLocation, limit: size, offset: cursorOr(0), withShippingRate: true }),
      { records: "data", pageSize: 100, total: "total" }
    )
  ],
  version: "updatedAt",
  fields: {
    _id: id("Zone id"),
    name: text("Name"),
    countries: rows(
      "shipping_zone_countries",
      "Countries of each zone.",
      {
        code: text("Country, two letters", { column: "country" }),
        states: json("States, as sent; all if there are none")
      },
      ["country"]
    ),
    shippingRates: rows(
      "shipping_rates",
      "What it costs to send to each zone.",
      {
        _id: id("Rate id"),
        name: text("Name"),
        description: text("What it is", { personal: "content" }),
        currency: text("Currency, ISO 4217"),
        amount: decimal("Price, or fee beside that of the carrier, in `currency`", money),
        conditionType: enumeration(["none", "price", "weight"], "What the bounds are of"),
        minCondition: decimal("Lower bound; 0 or NULL for none"),
        maxCondition: decimal("Upper bound; 0 or NULL for none"),
        shippingCarrierId: ref("shipping_carriers", "Carrier that computes the price"),
        isCarrierRate: boolean("The carrier computes the price"),
        percentageOfRateFee: decimal("Fee in per cent of the carrier's price"),
        shippingCarrierServices: json("Services of the carrier, as sent"),
        createdAt: created("When it was made"),
        updatedAt: changed("Last change")
      },
      ["id"]
    ),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    ...altFields
  }
})
