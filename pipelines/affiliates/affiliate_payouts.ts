import {
  boolean,
  changed,
  created,
  decimal,
  email,
  id,
  identifier,
  instant,
  json,
  openEnum,
  personName,
  ref,
  secret,
  text
} from "#catalog/fields.ts"
import { cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

export const affiliatePayouts = defineList({
  table: "affiliate_payouts",
  description: "What affiliates are paid.",
  source: "C 17.3 GET /affiliate-manager/{locationId}/payouts",
  scope: "affiliate-manager.readonly",
  unproven: true,
  full: [
    byOffset(get("/affiliate-manager/{locationId}/payouts", { limit: size, skip: cursorOr(0) }), {
      records: "payouts",
      pageSize: 100,
      total: "meta.count"
    })
  ],
  version: "updatedAt",
  tombstone: "deleted",
  person: { records: { affiliate_id: "affiliates" }, isFinancial: true },
  fields: {
    _id: id("Payout id"),
    affiliateId: ref("affiliates", "Who is paid"),
    affiliateName: personName("Name of who is paid"),
    affiliateEmail: email("Address of who is paid"),
    // The whole affiliate once more, with tax papers.
    affiliate: secret,
    campaignId: identifier("Campaign that it is for"),
    campaign: text("Name of that campaign"),
    currency: text("Currency, ISO 4217"),
    amount: decimal("What is paid, in `currency`", { personal: "financial" }),
    status: openEnum("Status, for example `pending`"),
    paidMethod: openEnum("How it was paid"),
    payoutMethod: openEnum("How it is to be paid"),
    paidMeta: json("Details of the payment, as sent", { personal: "financial" }),
    payoutMonth: instant("Month that it is for"),
    isMigrated: boolean("Taken over from before"),
    deleted: boolean("Removed"),
    dueAt: instant("When it is to be paid"),
    paidAt: instant("When it was paid"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    altId: ref("locations", "The location", { column: "location_id" })
  }
})
