import {
  address,
  boolean,
  changed,
  count,
  created,
  decimal,
  email,
  id,
  identifier,
  json,
  personName,
  phone,
  ref,
  secret,
  text,
  url,
  values
} from "#catalog/fields.ts"
import { cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

const money = { personal: "financial" } as const

export const affiliates = defineList({
  table: "affiliates",
  description: "People who are paid for the customers whom they bring.",
  source: "C 17.1 GET /affiliate-manager/{locationId}/affiliates",
  scope: "affiliate-manager.readonly",
  unproven: true,
  full: [
    byOffset(get("/affiliate-manager/{locationId}/affiliates", { limit: size, skip: cursorOr(0) }), {
      records: "affiliates",
      pageSize: 100,
      total: "meta.count"
    })
  ],
  // What the default leaves out is not said.
  partitions: { default: {}, active: { parameters: { active: "true" } } },
  getOne: { request: get("/affiliate-manager/{locationId}/affiliates/{affiliateId}"), record: "" },
  version: "updatedAt",
  tombstone: "deleted",
  person: { contacts: ["contact_id"], isFinancial: true },
  fields: {
    _id: id("Affiliate id"),
    email: email("Address for e-mail"),
    firstName: personName("First name"),
    lastName: personName("Last name"),
    phone: phone("Phone"),
    address: address("Postal address"),
    avatar: text("Picture, as a link", { personal: "direct" }),
    contactId: ref("contacts", "The person as a contact"),
    active: boolean("Can bring customers"),
    deleted: boolean("Removed"),
    campaignIds: values(
      "affiliate_campaigns",
      "Campaigns of each of them.",
      "campaign_id",
      identifier("Id of the campaign, of which there is no list")
    ),
    facebookUrl: url("Page at the network"),
    instagramUrl: url("Page at the network"),
    linkedInUrl: url("Page at the network"),
    twitterUrl: url("Page at the network"),
    youtubeUrl: url("Page at the network"),
    websiteUrl: url("Web site"),
    vatId: identifier("Tax number", { personal: "sensitive" }),
    // Tax papers of a person, as links that open them.
    w8Form: secret,
    w9Form: secret,
    revenue: decimal("Revenue brought, in `currency`", money),
    paid: decimal("What was paid, in `currency`", money),
    owned: decimal("What is owed, in `currency`", money),
    currency: text("Currency, ISO 4217"),
    customer: count("Customers brought"),
    lead: count("Leads brought"),
    droppedCustomer: count("Customers who left"),
    clickCount: count("Clicks on links"),
    createdBy: json("Who made it, as sent"),
    lastUpdatedBy: json("Who changed it last, as sent"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change; the sums change without it")
  }
})
