/** Shapes that several resources send. */
import { alias, flag, instant, json, object, ref, rows, text } from "./fields.ts"

/**
 * Who did something: the id of a user or program, or an object that holds it. The id is `<column>_id`; the object stays
 * as JSON beside it.
 */
export const actor = (column: string, description: string) =>
  object(
    {
      id: text(`${description}: id of the user or program`, { column: `${column}_id`, personal: "quasi" }),
      _id: alias("id"),
      userId: alias("id"),
      sourceId: alias("id"),
      source: text(`${description}: kind of user or program`, { column: `${column}_source` }),
      channel: text(`${description}: by which way`, { column: `${column}_channel` })
    },
    { whole: json(`${description}, as sent`, { column, personal: "quasi" }), plain: "id" }
  )

/** A product on a line; the object stays as JSON beside it. */
export const lineProduct = object(
  {
    _id: ref("products", "The product", { column: "product_id" }),
    name: text("Name of the product", { column: "product_name" })
  },
  { whole: json("The product, as sent", { column: "product" }), plain: "_id" }
)

const whereabouts = { personal: "quasi" } as const

/** Where a visit came from: the members that reports group by. */
const visit = {
  sessionSource: text("Kind of traffic, for example `Paid Search`"),
  medium: text("What the visit led to, for example `form`"),
  mediumId: text("Id of that form, widget or calendar"),
  campaign: text("Campaign"),
  campaignId: text("Id of the campaign at the advertiser"),
  utmSource: text("utm_source"),
  utmMedium: text("utm_medium"),
  utmCampaign: text("utm_campaign"),
  utmContent: text("utm_content"),
  utmTerm: text("utm_term"),
  url: text("Page visited", whereabouts),
  referrer: text("Page visited before", whereabouts)
}

/** The first or the last visit of a contact; the object stays as JSON beside it. */
export const visitOf = (column: string, description: string) =>
  object(visit, { whole: json(`${description}, as sent`, { column, ...whereabouts }) })

/** The visits of a record, one row each. */
export const attributions = (table: string, description: string) =>
  rows(table, description, {
    ...visit,
    utmSessionSource: alias("sessionSource"),
    pageUrl: alias("url"),
    utmCampaignId: text("Id of the campaign at the advertiser, as the address says"),
    adSource: text("Where the advertisement was shown"),
    utmAdId: text("Id of the advertisement", { column: "ad_id" }),
    adId: alias("utmAdId"),
    utmAdGroupId: text("Id of the group of advertisements", { column: "ad_group_id" }),
    adGroupId: alias("utmAdGroupId"),
    gclid: text("Click id of the search network", whereabouts),
    utmGclid: alias("gclid"),
    fbclid: text("Click id of the social network", whereabouts),
    utmFbclid: alias("fbclid"),
    ip: text("Network address of the visitor", whereabouts),
    userAgent: text("Browser of the visitor", whereabouts),
    isFirst: flag("The first visit"),
    isLast: flag("The last visit"),
    dateAdded: instant("When the visit was recorded")
  })

/** Other records that a record is tied to. */
export const relations = (table: string, description: string) =>
  rows(table, description, {
    objectKey: text("Kind of the other record, for example `contact`"),
    recordId: text("Id of the other record"),
    relationId: text("Id of the tie"),
    associationId: text("Id of the kind of tie"),
    primary: flag("The main one", { column: "is_primary" })
  })
