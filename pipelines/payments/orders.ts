import { membersOf } from "#catalog/json.ts"
import { alias, openEnum, decimal, boolean, id, json, object, ref, rows, text, count } from "#catalog/fields.ts"
import { enumeration, changed, created, email, identifier, personName } from "#catalog/fields.ts"
import { productOf } from "#catalog/decimals.ts"
import { type Parameters, altLocation, cursorOr, get, size, windowEnd, windowStart } from "#catalog/request.ts"
import { byDayMade, byOffset, defineList } from "#catalog/resource.ts"
import { actor, altFields, lineProduct } from "#catalog/shapes.ts"

const list = (days: Parameters = {}) =>
  byOffset(get("/payments/orders", { ...altLocation, ...days, limit: size, offset: cursorOr(0) }), {
    records: "data",
    pageSize: 100,
    total: "totalCount"
  })

/** Adds the amount of each line without one: its quantity times its unit price. */
const withLineAmounts = (sent: unknown): unknown => {
  const { items } = membersOf(sent)
  return Array.isArray(items) ? { ...membersOf(sent), items: items.map(withLineAmount) } : sent
}
const withLineAmount = (item: unknown): unknown => {
  const { amount, qty, price } = membersOf(item)
  const { amount: unit } = membersOf(price)
  if ((amount ?? null) !== null || (qty ?? null) === null || (unit ?? null) === null) return item
  return { ...membersOf(item), amount: productOf(numberText(qty), numberText(unit)) ?? null }
}
const numberText = (sent: unknown): string => (JSON.isRawJSON(sent) ? sent.rawJSON : String(sent))

export const orders = defineList({
  table: "orders",
  description: "Orders from all sources. The list is flat, the single order nested; both fill the same row.",
  source: "B 2.4, B 4.4 GET /payments/orders, GET /payments/orders/{orderId}",
  scope: "payments/orders.readonly",
  // The list can be filtered only by the day of creation, and orders change long after it, with refunds and deliveries. So
  // every sync reads the whole list, which costs a hundredth of the requests for all details, and the details of changed rows.
  full: [list()],
  transform: (order) => [withLineAmounts(order)],
  transformedBy: ["items"],
  backfill: byDayMade(list({ startAt: windowStart("date"), endAt: windowEnd("date") })),
  getOne: { request: get("/payments/orders/{orderId}", altLocation), record: "" },
  detail: {
    versionColumn: "updated_at",
    refreshAfter: "60 days",
    fields: {
      couponCode: text("Code of the coupon used"),
      coupon: object(
        { _id: ref("coupons", "Coupon used", { column: "coupon_id" }), code: alias("couponCode") },
        { whole: json("Coupon used, as sent", { column: "coupon", personal: "financial" }), plain: "_id" }
      ),
      contactSnapshot: json("The contact when ordering, as sent", { personal: "direct", copyOf: "contacts" }),
      trackingId: identifier("Tracking id", { personal: "quasi" }),
      items: rows("order_items", "Lines of each order.", {
        _id: identifier("Line id, where sent", { column: "id" }),
        name: text("What was ordered"),
        currency: text("Currency, ISO 4217"),
        product: lineProduct,
        price: object(
          {
            _id: ref("prices", "The price", { column: "price_id" }),
            amount: decimal("Price of one, in `currency`", { column: "unit_amount", personal: "financial" }),
            currency: alias("currency")
          },
          { whole: json("The price, as sent", { column: "price", personal: "financial" }), plain: "_id" }
        ),
        qty: decimal("Quantity"),
        amount: decimal("Amount of the line in `currency`: as sent, else `qty` times `unit_amount`", {
          column: "line_amount",
          personal: "financial"
        })
      })
    }
  },
  person: { contacts: ["contact_id"], isFinancial: true },
  fields: {
    _id: id("Order id"),
    ...altFields,
    contactId: ref("contacts", "Who ordered"),
    contactName: personName("Name of who ordered", { copyOf: "contacts.name" }),
    contactEmail: email("Address of who ordered", { copyOf: "contacts.email" }),
    currency: text("Currency, ISO 4217"),
    amount: decimal("Total in `currency`", { personal: "financial" }),
    subtotal: decimal("Total before discount in `currency`", { personal: "financial" }),
    discount: decimal("Discount in `currency`", { personal: "financial" }),
    amountSummary: object({ subtotal: alias("subtotal"), discount: alias("discount") }),
    status: openEnum("`completed`, `pending`, …"),
    paymentStatus: enumeration(["paid", "unpaid", "refunded", "partially_paid"]),
    fulfillmentStatus: openEnum("`fulfilled`, `unfulfilled`, …"),
    liveMode: boolean("False for a test order"),
    totalProducts: count("Number of products"),
    onetimeProducts: count("Number of products paid once"),
    recurringProducts: count("Number of products paid by subscription"),
    automaticTaxesCalculated: boolean("The service worked out the taxes"),
    markAsTest: boolean("Marked as a test"),
    createdBy: actor("created_by", "Who made the order"),
    sourceType: openEnum("Kind of thing the order came from"),
    sourceSubType: openEnum("Kind in more detail"),
    sourceName: text("Name of that thing"),
    sourceId: identifier("Id of that thing"),
    source: object({
      type: alias("sourceType"),
      subType: alias("sourceSubType"),
      name: alias("sourceName"),
      id: alias("sourceId")
    }),
    sourceMeta: json("More about that thing, as sent", { personal: "direct" }),
    createdAt: created("When it was ordered"),
    updatedAt: changed("Last change")
  }
})
