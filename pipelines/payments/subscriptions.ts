import { alias, boolean, changed, count, created, decimal, email, enumeration, id } from "#catalog/fields.ts"
import { identifier } from "#catalog/fields.ts"
import { instant, json, object, openEnum, personName, ref, text, trait } from "#catalog/fields.ts"
import { type Parameters, altLocation, cursorOr, get, size, windowEnd, windowStart } from "#catalog/request.ts"
import { byDayMade, byOffset, defineList } from "#catalog/resource.ts"
import { actor, altFields, paymentProvider } from "#catalog/shapes.ts"
import { rrule } from "#catalog/enums.ts"

const list = (days: Parameters = {}) =>
  byOffset(
    get("/payments/subscriptions", {
      ...altLocation,
      getPaymentsCollectedCount: true,
      ...days,
      limit: size,
      offset: cursorOr(0)
    }),
    { records: "data", total: "totalCount" }
  )

const sources = (
  "funnel website invoice calendar text2Pay document_contracts membership mobile_app " +
  "communities point_of_sale manual form survey payment_link external"
).split(" ")

export const subscriptions = defineList({
  table: "subscriptions",
  description: "Recurring payments. The list is flat, the single subscription nested; both fill the same row.",
  source: "B 2.4, B 4.5 GET /payments/subscriptions, GET /payments/subscriptions/{subscriptionId}",
  scope: "payments/subscriptions.readonly",
  // The list can be filtered only by the day of creation, and subscriptions are cancelled years later. So every sync reads
  // the whole list, which costs a hundredth of the requests for all details, and the details of changed rows.
  full: [list()],
  backfill: byDayMade(list({ startAt: windowStart("date"), endAt: windowEnd("date") })),
  getOne: {
    request: get("/payments/subscriptions/{subscriptionId}", altLocation),
    record: ""
  },
  detail: {
    versionColumn: "updated_at",
    refreshAfter: "60 days",
    fields: {
      entitySource: object({
        type: alias("entitySourceType"),
        subType: openEnum("Kind in more detail: `upsell`, `store`, `saas_subscription`, …"),
        name: alias("entitySourceName"),
        id: alias("entitySourceId")
      }),
      schedule: object({
        executeAt: instant("When the first payment is taken"),
        rrule
      }),
      canceledAt: instant("When it was cancelled"),
      canceledBy: actor("canceled_by", "Who cancelled it"),
      paymentProvider,
      coupon: object(
        {
          _id: ref("coupons", "Coupon used", { column: "coupon_id" }),
          code: text("Code of the coupon used", { column: "coupon_code" })
        },
        { whole: json("Coupon used, as sent", { column: "coupon", personal: "financial" }), plain: "_id" }
      ),
      recurringProduct: object(
        {
          _id: identifier("Id of what is paid for", { column: "recurring_product_id" }),
          name: text("Name of what is paid for"),
          qty: decimal("Quantity of what is paid for")
        },
        {
          whole: json("What is paid for, as sent", { column: "recurring_product", personal: "financial" }),
          plain: "_id"
        }
      ),
      autoPayment: object(
        { enable: boolean("Payments are taken automatically", { column: "auto_payment_enabled" }) },
        {
          whole: json("Automatic payment, as sent", { column: "auto_payment", personal: "financial" }),
          plain: "enable"
        }
      ),
      contactSnapshot: json("The contact when subscribing, as sent", { personal: "direct", copyOf: "contacts" }),
      meta: json("Free-form data", { personal: "content" }),
      markAsTest: boolean("Marked as a test")
    }
  },
  person: { contacts: ["contact_id"], isFinancial: true },
  fields: {
    _id: id("Subscription id"),
    contactId: ref("contacts", "Who pays"),
    contactName: personName("Name of who pays", { copyOf: "contacts.name" }),
    contactEmail: email("Address of who pays", { copyOf: "contacts.email" }),
    currency: text("Currency, ISO 4217"),
    amount: decimal("Amount of one payment in `currency`", { personal: "financial" }),
    // The documents show an object without its members; the service sends a text.
    status: object(
      {
        type: openEnum("State: `active`, `canceled`, `past_due`, `trialing`, …", { column: "status" }),
        status: alias("type"),
        current: alias("type")
      },
      {
        whole: json("State with its details, where the service sends them", { column: "status_details" }),
        plain: "type"
      }
    ),
    paymentsCollectedCount: count("Number of payments collected"),
    liveMode: boolean("False for a test subscription"),
    entityType: openEnum("What it was made with: `order`, `invoice`, …"),
    entityId: identifier("Id of that order or invoice"),
    entitySourceType: enumeration(sources, "Kind of thing it came from"),
    entitySourceName: text("Name of that thing"),
    entitySourceId: identifier("Id of that thing"),
    entitySourceMeta: json("More about that thing, as sent", { personal: "direct" }),
    paymentProviderType: openEnum("Provider that takes the payments"),
    paymentProviderConnectedAccount: text("Account at the provider", { personal: "financial" }),
    subscriptionId: identifier("Id at the provider", { personal: "financial" }),
    // It may contain the name and the address of who pays.
    subscriptionSnapshot: json("The subscription at the provider, as sent", { personal: "direct" }),
    ipAddress: trait("Network address of who subscribed"),
    createdBy: actor("created_by", "Who made it"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    ...altFields
  }
})
