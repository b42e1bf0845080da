import { alias, openEnum, decimal, boolean, id, instant, json, object, ref, text, changed } from "#catalog/fields.ts"
import { created, email, identifier, personName, trait } from "#catalog/fields.ts"
import { type Parameters, altLocation, cursorOr, get, since, size, windowEnd, windowStart } from "#catalog/request.ts"
import { byDayMade, byOffset, defineList } from "#catalog/resource.ts"
import { actor, altFields, paymentProvider } from "#catalog/shapes.ts"

const list = (days: Parameters = {}) =>
  byOffset(get("/payments/transactions", { ...altLocation, ...days, limit: size, offset: cursorOr(0) }), {
    records: "data",
    total: "totalCount"
  })

export const transactions = defineList({
  table: "transactions",
  description: "Payments and refunds. Both shapes, flat and nested, fill the same row.",
  source: "B 2.4, B 4.4 GET /payments/transactions",
  scope: "payments/transactions.readonly",
  full: [list()],
  // The list can be filtered only by the day of creation, so each sync reads the last month again. The weekly full sync finds
  // later changes, mostly refunds and disputes, and deletions.
  changes: {
    field: "updatedAt",
    events: ["payment", "transaction"],
    overlap: "31 days",
    strategies: [{ ...list({ startAt: since("date") }), verifyField: "createdAt" }],
    fullEvery: "7 days"
  },
  backfill: byDayMade(list({ startAt: windowStart("date"), endAt: windowEnd("date") })),
  // There is no detail: it would cost a request for each transaction, and add only the account of the payment provider and
  // the id of the source, which the order or invoice in `entity_id` has too.
  getOne: {
    request: get("/payments/transactions/{transactionId}", altLocation),
    record: ""
  },
  person: {
    contacts: ["contact_id", "merged_from_contact_id"],
    records: { invoice_id: "invoices" },
    isFinancial: true
  },
  fields: {
    _id: id("Transaction id"),
    contactId: ref("contacts", "Who paid"),
    contactName: personName("Name of who paid", { copyOf: "contacts.name" }),
    contactEmail: email("Address of who paid", { copyOf: "contacts.email" }),
    currency: text("Currency, ISO 4217"),
    amount: decimal("Amount in `currency`", { personal: "financial" }),
    amountRefunded: decimal("Amount paid back in `currency`", { personal: "financial" }),
    status: openEnum("`succeeded`, `failed`, `pending`, `refunded`, …"),
    liveMode: boolean("False for a test payment"),
    markAsTest: boolean("Marked as a test"),
    isParent: boolean("Other transactions belong to it"),
    entityType: openEnum("What was paid: `order`, `invoice`, …"),
    entityId: identifier("Id of the order or invoice"),
    entitySourceType: openEnum("Kind of thing it came from: `funnel`, `invoice`, `manual`, …"),
    entitySourceSubType: openEnum("Kind in more detail: `upsell`, `card_payment`, …"),
    entitySourceName: text("Name of that thing"),
    entitySourceId: identifier("Id of that thing; only a single read shows it"),
    entitySourceMeta: json("More about that thing, as sent", { personal: "direct" }),
    entitySource: object({
      type: alias("entitySourceType"),
      subType: alias("entitySourceSubType"),
      name: alias("entitySourceName"),
      id: alias("entitySourceId")
    }),
    paymentProviderType: openEnum("Provider that took the payment"),
    paymentProvider,
    paymentProviderConnectedAccount: text("Account at the provider", { personal: "financial" }),
    paymentMethod: openEnum("`card`, `cash`, `cheque`, `bank_transfer`, …"),
    subscriptionId: identifier("Subscription it belongs to: `id` or `subscription_id` of subscriptions, unsaid which", {
      personal: "financial"
    }),
    invoiceId: ref("invoices", "Invoice it belongs to"),
    chargeId: identifier("Id at the provider", { personal: "financial" }),
    // It may contain the name and the address of who paid.
    chargeSnapshot: json("The charge at the provider, as sent", { personal: "direct" }),
    receiptId: identifier("Receipt", { personal: "financial" }),
    ipAddress: trait("Network address of who paid"),
    createdBy: actor("created_by", "Who recorded it"),
    contactSnapshot: json("The contact when paying, as sent", { personal: "direct", copyOf: "contacts" }),
    mergedFromContactId: ref("contacts", "Contact that was merged into `contact_id` since"),
    fulfilledAt: instant("When it was paid"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    ...altFields
  }
})
