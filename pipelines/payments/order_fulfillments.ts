import { decimal, id, json, object, ref, rows, text, changed, created, identifier, url } from "#catalog/fields.ts"
import { altLocation, get } from "#catalog/request.ts"
import { defineChild, inOnePage } from "#catalog/resource.ts"
import { altFields, lineProduct } from "#catalog/shapes.ts"

export const orderFulfillments = defineChild({
  table: "order_fulfillments",
  description: "Deliveries of orders.",
  source: "B 2.4, B 4.4 GET /payments/orders/{orderId}/fulfillments",
  scope: "payments/orders.readonly",
  // A delivery changes the fulfillmentStatus of its order. It is not documented whether a new tracking number changes the
  // order too, so every order is requested again.
  childOf: {
    table: "orders",
    column: "order_id",
    versionColumn: "updated_at",
    refreshAfter: "60 days",
    strategy: inOnePage(get("/payments/orders/{orderId}/fulfillments", altLocation), {
      records: "data",
      beside: { status: "true" }
    })
  },
  person: { records: { order_id: "orders" } },
  fields: {
    _id: id("Fulfillment id"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    ...altFields,
    trackings: rows("fulfillment_trackings", "Parcels of each delivery.", {
      trackingNumber: identifier("Number of the parcel", { personal: "quasi" }),
      shippingCarrier: text("Who carries it"),
      trackingUrl: url("Page that follows it")
    }),
    items: rows(
      "fulfillment_items",
      "What each delivery holds.",
      {
        _id: id("Item id"),
        name: text("What is delivered"),
        product: lineProduct,
        price: object(
          {
            _id: ref("prices", "The price", { column: "price_id" }),
            amount: decimal("Price of one, in `currency`", { column: "unit_amount", personal: "financial" }),
            currency: text("Currency, ISO 4217", { column: "currency" })
          },
          { whole: json("The price, as sent", { column: "price", personal: "financial" }), plain: "_id" }
        ),
        qty: decimal("Quantity")
      },
      ["id"]
    )
  }
})
