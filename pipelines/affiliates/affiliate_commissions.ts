import {
  alias,
  boolean,
  count,
  created,
  decimal,
  email,
  id,
  identifier,
  instant,
  json,
  object,
  openEnum,
  personName,
  ref,
  text
} from "#catalog/fields.ts"
import { cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

const money = { personal: "financial" } as const

export const affiliateCommissions = defineList({
  table: "affiliate_commissions",
  description: "What affiliates earn from each sale.",
  source: "C 17.2 GET /affiliate-manager/{locationId}/commissions",
  scope: "affiliate-manager.readonly",
  unproven: true,
  full: [
    byOffset(get("/affiliate-manager/{locationId}/commissions", { limit: size, skip: cursorOr(0) }), {
      records: "commissions",
      pageSize: 100,
      total: "meta.count"
    })
  ],
  person: { records: { affiliate_id: "affiliates" }, isFinancial: true },
  fields: {
    _id: id("Commission id"),
    affiliateId: ref("affiliates", "Who earns it"),
    payoutId: ref("affiliate_payouts", "Payout that it is part of"),
    eventId: identifier("What it is for"),
    transactionId: ref("transactions", "The sale, or its number at the provider"),
    transactionAt: instant("When it was sold"),
    productId: ref("products", "What was sold"),
    productName: text("Name of what was sold"),
    qty: decimal("Quantity"),
    amount: decimal("What was paid for it, in `currency`", money),
    unitDiscount: decimal("Discount of each, in `currency`", money),
    commission: decimal("Rate of the commission", money),
    commissionType: openEnum("What the rate is, for example `percentage`"),
    productCommission: decimal("Commission of each, in `currency`", money),
    commissionAmount: decimal("Commission in all, in `currency`", money),
    currency: text("Currency, ISO 4217"),
    status: openEnum("Status, for example `pending`"),
    tier: count("1 for a sale of their own"),
    isTrial: boolean("Of a trial"),
    liveMode: boolean("False for a test"),
    customer: object(
      {
        _id: identifier("Who bought", { column: "customer_id" }),
        firstName: personName("First name of who bought"),
        lastName: personName("Last name of who bought"),
        email: email("Address of who bought"),
        type: openEnum("Kind of who bought")
      },
      { plain: "_id" }
    ),
    campaignName: text("Campaign"),
    campaign: object({
      id: identifier("Id of the campaign"),
      name: alias("campaignName"),
      liveMode: boolean("The campaign is no test")
    }),
    affiliate: json("The affiliate, as sent", { personal: "direct", copyOf: "affiliates" }),
    createdAt: created("When it was earned"),
    dueAt: instant("When it is to be paid")
  }
})
