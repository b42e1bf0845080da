/** Groups of fields that several resources share. */
import { alias, boolean, count, decimal, enumeration, ignored, json, object, openEnum, ref, rows } from "./fields.ts"
import {
  created,
  email,
  emailOrPhone,
  identifier,
  personName,
  phone,
  secret,
  text,
  trait,
  url,
  values
} from "./fields.ts"

/** The location in records of payments, invoices and products. */
export const altFields = {
  altId: ref("locations", "The location", { column: "location_id" }),
  altType: ignored
}

/**
 * The user or program that did something, sent as an id or as an object with the id. The column `<column>_id` holds the id,
 * and a JSON column the object as sent.
 */
export const actor = (column: string, description: string) =>
  object(
    {
      id: identifier(`${description}: id of the user or program`, { column: `${column}_id`, personal: "quasi" }),
      _id: alias("id"),
      userId: alias("id"),
      sourceId: alias("id"),
      source: text(`${description}: kind of user or program`, { column: `${column}_source` }),
      channel: text(`${description}: by which way`, { column: `${column}_channel` })
    },
    // The object may contain a name.
    { whole: json(`${description}, as sent`, { column, personal: "direct" }), plain: "id" }
  )

/** The product of a line, with a JSON column for the object as sent. */
export const lineProduct = object(
  {
    _id: ref("products", "The product", { column: "product_id" }),
    name: text("Name of the product", { column: "product_name" })
  },
  { whole: json("The product, as sent", { column: "product" }), plain: "_id" }
)

/** The provider of a payment or subscription, of which some operations send the type only. */
export const paymentProvider = object(
  { type: alias("paymentProviderType") },
  { whole: json("The provider, as sent", { personal: "financial" }), plain: "type" }
)

const path = { personal: "quasi" } as const
const money = { personal: "financial" } as const

/** The source of a visit: the fields by which reports group visits. */
const visit = {
  sessionSource: text("Kind of traffic, for example `Paid Search`"),
  medium: text("What the visit led to, for example `form`"),
  mediumId: identifier("Id of that form, widget or calendar"),
  campaign: text("Campaign"),
  campaignId: identifier("Id of the campaign at the advertiser"),
  utmSource: text("utm_source"),
  utmMedium: text("utm_medium"),
  utmCampaign: text("utm_campaign"),
  utmContent: text("utm_content"),
  utmTerm: text("utm_term"),
  url: url("Page visited"),
  referrer: url("Page visited before"),
  gclid: identifier("Click id of the search network", path),
  dclid: identifier("Click id of the display network", path),
  msclkid: identifier("Click id of another search network", path),
  fbclid: identifier("Click id of the social network", path),
  fbc: identifier("Cookie of the social network with the click", path),
  fbp: identifier("Cookie of the social network with the browser", path),
  fbEventId: identifier("Id of the event at the social network", path),
  ip: trait("Network address of the visitor"),
  userAgent: trait("Browser of the visitor")
}

/** The first or the last visit of a contact, with a JSON column for the object as sent. */
export const visitOf = (column: string, description: string) =>
  object(visit, { whole: json(`${description}, as sent`, { column, ...path }) })

/** The visits of a record; each becomes a row of the child table. */
export const attributions = (table: string, description: string) =>
  rows(table, description, {
    ...visit,
    utmSessionSource: alias("sessionSource"),
    pageUrl: alias("url"),
    utmCampaignId: identifier("Id of the campaign at the advertiser, as the address says"),
    adSource: text("Where the advertisement was shown"),
    utmAdId: identifier("Id of the advertisement", { column: "ad_id" }),
    adId: alias("utmAdId"),
    utmAdGroupId: identifier("Id of the group of advertisements", { column: "ad_group_id" }),
    adGroupId: alias("utmAdGroupId"),
    utmGclid: alias("gclid"),
    utmFbclid: alias("fbclid"),
    isFirst: boolean("The first visit"),
    isLast: boolean("The last visit"),
    dateAdded: created("When the visit was recorded")
  })

/** The associations of a record with other records. */
export const relations = (table: string, description: string) =>
  rows(table, description, {
    objectKey: text("Kind of the other record, for example `contact`"),
    recordId: identifier("Id of the other record"),
    relationId: identifier("Id of the tie"),
    associationId: ref("associations", "Id of the kind of tie"),
    primary: boolean("The main one", { column: "is_primary" })
  })

/** Links to files; each becomes a row of the child table. `constants`: say in which member of the record it was. */
export const attachments = (table: string, description: string, constants?: { readonly kind: string }) =>
  values(table, description, "url", text("Link to the file", { role: "file" }), {
    key: [],
    ...(constants && { constants })
  })

/** The lines of an invoice, an estimate or a template; `what` describes their names. */
export const documentLines = (table: string, description: string, what: string) =>
  rows(table, description, {
    _id: identifier("Line id, where sent", { column: "id" }),
    name: text(what),
    productId: ref("products", "The product"),
    priceId: ref("prices", "The price"),
    type: openEnum("Paid once or by subscription: `one_time` or `recurring`"),
    currency: text("Currency, ISO 4217"),
    amount: decimal("Price of one, in `currency`", money),
    qty: decimal("Quantity"),
    taxes: json("Taxes on the line, as sent", money)
  })

/** The email addresses and phone numbers to which an invoice or estimate is sent. */
export const sentTo = (table: string, description: string) => {
  const kind = (kind: string) =>
    values(table, description, "address", emailOrPhone("Email address or phone"), {
      key: ["kind", "address"],
      constants: { kind }
    })
  return object({
    email: kind("email"),
    emailCc: kind("email_cc"),
    emailBcc: kind("email_bcc"),
    phoneNo: kind("phone")
  })
}

/** The business, as printed on an invoice, an estimate or a template. */
export const businessDetails = object(
  { name: text("Name of the business as shown") },
  { whole: json("The business as shown, as sent", { column: "business_details", ...path }) }
)

/** The contact, as printed on `what`. */
export const contactOn = (what: string, description: string) => ({
  id: ref("contacts", description),
  name: personName(`Name on ${what}`, { copyOf: "contacts.name" }),
  phoneNo: phone(`Phone on ${what}`, { copyOf: "contacts.phone" }),
  email: email(`Address on ${what}`, { copyOf: "contacts.email" })
})

export const discount = object({
  type: enumeration(["percentage", "fixed"]),
  value: decimal("Discount: per cent, or in `currency`", money)
})

/** The fees for late payment of an invoice (B 2.3). */
export const lateFees = object({
  enable: boolean("Late fees are charged"),
  value: decimal("Late fee: in the invoice's currency, or per cent", money),
  type: enumeration(["fixed", "percentage"]),
  frequency: object({
    intervalCount: count("Time between late fees, in the unit beside"),
    interval: enumeration(["minute", "hour", "day", "week", "month", "one_time"])
  }),
  grace: object({
    intervalCount: count("Time before the first late fee, in the unit beside"),
    interval: enumeration(["day"])
  }),
  maxLateFees: object({
    type: enumeration(["fixed"]),
    value: decimal("Most that late fees come to, in the invoice's currency", money)
  })
})

/** Calls and voicemail of which there may be a recording, as parents of what is read for each. */
export const callsWithSound = {
  table: "messages",
  column: "message_id",
  where:
    "message_type IN ('TYPE_CALL', 'TYPE_CAMPAIGN_VOICEMAIL') AND coalesce(call_status, '') NOT IN ('pending', 'busy', 'no-answer', 'failed', 'canceled')",
  share: 0.08,
  versionColumn: "date_updated"
} as const

/** What an action does, without the access to another service that it may have. */
export const actionParameters = object(
  { apiDetails: secret },
  {
    whole: json("What the action does, as sent, without the access to another service", {
      column: "action_parameters",
      personal: "direct"
    })
  }
)
