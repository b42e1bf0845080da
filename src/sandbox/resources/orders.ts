import { malformed } from "../errors.ts"
import { listed, pageOf } from "../pages.ts"
import { day, dayMs, oneOf, searchText, whole } from "../parameters.ts"
import type { Call, Route, Service } from "../route.ts"
import { type Data, type Entry, type Filter, byCreated } from "../world/collection.ts"
import { slice } from "../world/position.ts"

/** Orders (B 4.4): flat in the list, nested alone. */
export const orderRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/payments/orders",
    scope: "payments/orders.readonly",
    location: { in: "query", name: "altId" },
    handle: (call, service) => {
      const { orders } = service.world
      const limit = whole(call.query.get("limit"), "limit", { fallback: 10, most: 100 })
      const offset = whole(call.query.get("offset"), "offset", { fallback: 0, least: 0 })
      const rows = orders.sorted(byCreated, filter(call, service))
      return { body: pageOf("data", listed(orders, slice(rows, offset, limit, true)), { totalCount: rows.length }) }
    }
  },
  {
    method: "GET",
    path: "/payments/orders/:orderId",
    scope: "payments/orders.readonly",
    location: { in: "query", name: "altId" },
    handle: ({ params }, { world }) => {
      const order = world.orders.get(params["orderId"]!)
      // An unknown order is a 400 here, not a 404 (A 7, B 4.4).
      if (order === undefined) throw malformed(`Order with id ${params["orderId"]} not found`)
      return { body: world.orders.full(order) }
    }
  }
]

const filter = ({ query }: Call, { world }: Service): Filter | undefined => {
  oneOf(query.get("altType"), "altType", ["location"])
  const from = day(query.get("startAt"), "startAt") ?? -Infinity
  const to = (day(query.get("endAt"), "endAt") ?? Infinity) + dayMs
  const text = searchText(query.get("search"), "search")
  const paymentStatus = oneOf(query.get("paymentStatus"), "paymentStatus", paymentStatuses)
  const paymentMode = oneOf(query.get("paymentMode"), "paymentMode", ["live", "test"])
  const [contactId, sourceId, status] = ["contactId", "sourceId", "status"].map((name) => query.get(name) || undefined)
  const productIds = query.get("funnelProductIds")?.split(",")
  const looksInside = [text, paymentStatus, paymentMode, sourceId, status, productIds].some(
    (value) => value !== undefined
  )
  const key = JSON.stringify([
    String(from),
    String(to),
    text,
    paymentStatus,
    paymentMode,
    contactId,
    sourceId,
    status,
    productIds
  ])
  if (!looksInside && contactId === undefined && from === -Infinity && to === Infinity) return undefined
  const test = (entry: Entry): boolean => {
    if (entry.created < from || entry.created >= to) return false
    if (contactId !== undefined && entry.parent !== contactId) return false
    if (!looksInside) return true
    const order = world.orders.data(entry)
    const source = order["source"] as Data
    const items = order["items"] as ReadonlyArray<{ product?: Data }>
    return (
      (status === undefined || order["status"] === status) &&
      (paymentStatus === undefined || order["paymentStatus"] === paymentStatus) &&
      (paymentMode === undefined || order["liveMode"] === (paymentMode === "live")) &&
      (sourceId === undefined || source["id"] === sourceId) &&
      (productIds === undefined || items.some((item) => productIds.includes(String(item.product?.["_id"])))) &&
      (text === undefined || `${String(order["contactName"])} ${String(source["name"])}`.toLowerCase().includes(text))
    )
  }
  return { key, test }
}

const paymentStatuses = ["paid", "unpaid", "refunded", "partially_paid"] as const
