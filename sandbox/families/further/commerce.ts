import type { Route } from "../../http/route.ts"
import type { Data, Entry } from "../../account/collection.ts"
import {
  type Shape,
  altType,
  between,
  choice,
  day,
  described,
  flag,
  integer,
  list,
  object,
  required,
  text,
  timestamp
} from "../../http/shape.ts"
import { containsText, filterBy, paging } from "../../http/lists.ts"
import { listed } from "../../http/pages.ts"
import { notFound } from "../../http/errors.ts"
import { find } from "../records.ts"
import { pageRows } from "./parts.ts"

const location = { in: "query", name: "altId" } as const
/** Required as text (C 12); in a query this makes no difference. */
const asText = { limit: required(between(integer, 1, 100)), offset: required(between(integer, 0)) }
/** By default, a page has no record (C 15.1, 15.3). */
const fromNone = {
  limit: described(between(integer, 0, 100), "Default 0."),
  offset: described(between(integer, 0), "Default 0.")
}
const ofNone = (query: Data): Data => ({ limit: 0, ...query })

const affiliateList = (
  name: "affiliates" | "commissions" | "payouts",
  collection: "affiliates" | "affiliateCommissions" | "affiliatePayouts",
  query: Shape,
  test: (data: Data, query: Data) => boolean
): Route => ({
  method: "GET",
  path: `/affiliate-manager/:locationId/${name}`,
  scope: "affiliate-manager.readonly",
  location: { in: "path", name: "locationId" },
  summary: `List ${name} of affiliates`,
  query: { ...paging(10, 100, "skip"), ...query },
  returns: { [name]: list(object()), meta: object() },
  handle: ({ query: sent }, { world }) => {
    const rows = world[collection]
    const filter = { key: JSON.stringify(Object.entries(sent)), test: (row: Entry) => test(rows.data(row), sent) }
    const { texts, total } = pageRows(rows, sent, filter)
    return `{"${name}":${texts},"meta":{"count":${total}}}`
  }
})

/** Invoices that come again (C 12), the shop (C 15) and affiliates (C 17). */
export const furtherCommerceRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/invoices/schedule",
    scope: "invoices/schedule.readonly",
    location,
    summary: "List recurring invoices",
    query: {
      altType,
      ...asText,
      status: text,
      startAt: day,
      endAt: day,
      search: text,
      paymentMode: choice("default", "live", "test")
    },
    returns: { schedules: list(object()), total: integer },
    handle: ({ query }, { world: { invoiceSchedules: rows } }) => {
      const filter = filterBy(query, "status search", (row) => {
        const { name, status } = rows.data(row)
        return (query["status"] ?? status) === status && containsText(query["search"], row.id, name)
      })
      const { texts, total } = pageRows(rows, query, filter)
      return `{"schedules":${texts},"total":${total}}`
    }
  },
  {
    method: "GET",
    path: "/invoices/schedule/:scheduleId",
    scope: "invoices/schedule.readonly",
    location,
    summary: "Get a recurring invoice",
    query: { altType },
    returns: object(),
    handle: ({ params }, { world: { invoiceSchedules: rows } }) =>
      rows.full(find(rows, params["scheduleId"], "Schedule"))
  },
  {
    method: "GET",
    path: "/products/reviews",
    scope: "products.readonly",
    location,
    summary: "List reviews of products",
    query: {
      altType,
      ...fromNone,
      sortField: choice("createdAt", "rating"),
      sortOrder: choice("asc", "desc"),
      rating: integer,
      startDate: timestamp,
      endDate: timestamp,
      productId: text,
      storeId: text
    },
    returns: { data: list(object()), total: integer },
    handle: ({ query }, { world: { productReviews: rows } }) => {
      const { texts, total } = pageRows(rows, ofNone(query))
      return `{"data":${texts},"total":${total}}`
    }
  },
  {
    method: "GET",
    path: "/store/shipping-zone",
    location,
    summary: "List shipping zones",
    query: { altType, ...fromNone, withShippingRate: flag },
    returns: { data: list(object()), total: integer },
    handle: ({ query }, { world: { shippingZones: rows } }) => {
      const { texts, total } = pageRows(rows, ofNone(query))
      const shown = JSON.parse(texts) as ReadonlyArray<Data>
      const data =
        query["withShippingRate"] === true ? shown : shown.map((zone) => ({ ...zone, shippingRates: undefined }))
      return { data, total }
    }
  },
  {
    method: "GET",
    path: "/store/shipping-carrier",
    location,
    summary: "List carriers",
    query: { altType },
    returns: { status: flag, message: text, data: list(object()) },
    handle: (_, { world: { shippingCarriers: rows } }) =>
      `{"status":true,"message":"ok","data":[${listed(rows, [...rows.live()]).join(",")}]}`
  },
  {
    method: "GET",
    path: "/store/shipping-carrier/:shippingCarrierId",
    location,
    summary: "Get a carrier",
    query: { altType },
    returns: { status: flag, message: text, data: object() },
    handle: ({ params }, { world: { shippingCarriers: rows } }) =>
      `{"status":true,"message":"ok","data":${rows.full(find(rows, params["shippingCarrierId"], "Carrier"))}}`
  },
  {
    method: "GET",
    path: "/store/store-setting",
    location,
    summary: "Get the settings of the store",
    query: { altType },
    returns: { status: flag, message: text, data: object() },
    handle: (_, { world: { storeSettings: rows } }) => {
      const [row] = [...rows.live()]
      if (row === undefined) throw notFound("There is no store")
      return `{"status":true,"message":"ok","data":${rows.full(row)}}`
    }
  },
  affiliateList(
    "affiliates",
    "affiliates",
    {
      query: text,
      active: described(choice("true", "false"), "Default false: those that are not active."),
      campaignId: text,
      fromDate: day,
      toDate: day
    },
    ({ active }, { active: wanted = "false" }) => active === (wanted === "true")
  ),
  {
    method: "GET",
    path: "/affiliate-manager/:locationId/affiliates/:affiliateId",
    scope: "affiliate-manager.readonly",
    location: { in: "path", name: "locationId" },
    summary: "Get an affiliate",
    returns: object(),
    handle: ({ params }, { world: { affiliates: rows } }) => rows.full(find(rows, params["affiliateId"], "Affiliate"))
  },
  affiliateList(
    "commissions",
    "affiliateCommissions",
    { campaignId: text, affiliateId: text, status: text, query: text, fromDate: day, toDate: day },
    ({ affiliateId, status }, query) =>
      (query["affiliateId"] ?? affiliateId) === affiliateId && (query["status"] ?? status) === status
  ),
  affiliateList(
    "payouts",
    "affiliatePayouts",
    { campaignId: text, affiliateId: text, status: text, query: text, start: timestamp, end: timestamp },
    ({ affiliateId, status }, query) =>
      (query["affiliateId"] ?? affiliateId) === affiliateId && (query["status"] ?? status) === status
  )
]
