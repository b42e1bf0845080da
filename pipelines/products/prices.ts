import { count, decimal, boolean, id, json, object, enumeration, ref, rows, text, values } from "#catalog/fields.ts"
import { changed, created, identifier } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineChild } from "#catalog/resource.ts"

export const prices = defineChild({
  table: "prices",
  description: "Prices of products, once or recurring.",
  source: "B 2.2, B 4.2 GET /products/{productId}/price",
  scope: "products/prices.readonly",
  // It is not documented whether a changed price changes the updatedAt of its product, so every product is requested again.
  // The inventory has the stock and the updatedAt of each price in every sync.
  childOf: {
    table: "products",
    column: "product_id",
    versionColumn: "updated_at",
    refreshAfter: "30 days",
    strategy: byOffset(get("/products/{productId}/price", { locationId: location, limit: size, offset: cursorOr(0) }), {
      records: "prices",
      total: "total"
    })
  },
  getOne: { request: get("/products/{productId}/price/{priceId}", { locationId: location }), record: "" },
  fields: {
    _id: id("Price id"),
    product: ref("products", "The product", { column: "product_id" }),
    name: text("Name"),
    description: text("Description", { personal: "content" }),
    type: enumeration(["one_time", "recurring"]),
    amount: decimal("Price in `currency`", { personal: "financial" }),
    currency: text("Currency, ISO 4217"),
    recurring: object({
      interval: enumeration(["day", "week", "month", "year"], "Unit of the time between payments"),
      intervalCount: count("Number of those units")
    }),
    trialPeriod: count("Days free at the start"),
    totalCycles: count("Number of payments; NULL for no end"),
    setupFee: decimal("Paid once on top, in `currency`", { personal: "financial" }),
    compareAtPrice: decimal("Former price shown beside, in `currency`", { personal: "financial" }),
    trackInventory: boolean("Stock is counted"),
    availableQuantity: decimal("Stock left; NULL where none is counted"),
    allowOutOfStockPurchases: boolean("Sold without stock as well"),
    sku: text("Article number"),
    shippingOptions: object({
      weight: object({ value: decimal("Weight, in the unit beside"), unit: enumeration(["kg", "lb", "g", "oz"]) }),
      dimensions: object({
        height: decimal("Height, in the unit beside"),
        width: decimal("Width, in the unit beside"),
        length: decimal("Length, in the unit beside"),
        unit: enumeration(["cm", "in", "m"])
      })
    }),
    isDigitalProduct: boolean("Delivered as a download"),
    digitalDelivery: json("What is delivered as a download"),
    userId: ref("users", "Who made the price"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    variantOptionIds: values(
      "price_variant_options",
      "Options of the product's variants that each price is for.",
      "variant_option_id",
      ref("product_variant_options", "The option")
    ),
    membershipOffers: rows(
      "price_membership_offers",
      "Membership offers that come with each price.",
      {
        _id: identifier("Offer id, where sent", { column: "id" }),
        label: text("Name of the offer"),
        value: text("Value of the offer")
      },
      [],
      { plain: "value" }
    )
  }
})
