import { malformed } from "../../http/errors.ts"
import { listed, pageOf } from "../../http/pages.ts"
import { dayMs } from "../../http/parameters.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import {
  altType,
  choice,
  day,
  described,
  flag,
  integer,
  list,
  object,
  record,
  type Shape,
  text
} from "../../http/shape.ts"
import { type Data, type Entry, type Filter, byCreated } from "../../account/collection.ts"
import { slice } from "../../account/position.ts"
import { filterBy, containsText, oldestFirst, paging } from "../../http/lists.ts"
import { find } from "../records.ts"

const filters: Shape = {
  locationId: text,
  status: text,
  paymentStatus: choice("paid", "unpaid", "refunded", "partially_paid"),
  paymentMode: choice("live", "test"),
  startAt: day,
  endAt: day,
  search: described(text, "Part of the name of the contact or of the source."),
  contactId: text,
  funnelProductIds: described(text, "Separated by commas."),
  sourceId: text
}

/** Orders, their fulfillments and notes (B 4.4): flat in the list, nested in a single read. */
export const orderRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/payments/orders",
    summary: "List orders",
    scope: "payments/orders.readonly",
    location: { in: "query", name: "altId" },
    query: { altType: choice("location"), ...filters, ...paging(10) },
    returns: { data: list(record("OrderListItem")), totalCount: integer },
    handle: ({ query }, service) => {
      const { orders } = service.world
      const rows = orders.sorted(byCreated, filter(query, service))
      const shown = slice(rows, Number(query["offset"] ?? 0), Number(query["limit"] ?? 10), true)
      return pageOf("data", listed(orders, shown), { totalCount: rows.length })
    }
  },
  {
    method: "GET",
    path: "/payments/orders/:orderId",
    summary: "Get an order",
    scope: "payments/orders.readonly",
    location: { in: "query", name: "altId" },
    query: { altType: choice("location") },
    returns: record("Order"),
    handle: ({ params }, service) => service.world.orders.full(findOrder(service, params["orderId"]))
  },
  {
    method: "GET",
    path: "/payments/orders/:orderId/fulfillments",
    summary: "List the fulfillments of an order",
    scope: "payments/orders.readonly",
    location: { in: "query", name: "altId" },
    query: { altType },
    returns: { status: flag, data: list(record("Fulfillment")) },
    handle: ({ params }, { world }) => {
      const { orderFulfillments } = world
      const order = find(world.orders, params["orderId"], "Order")
      const rows = oldestFirst(orderFulfillments.children(order.id!)).map((row) => orderFulfillments.full(row))
      return `{"status":true,"data":[${rows.join(",")}]}`
    }
  },
  {
    method: "GET",
    path: "/payments/orders/:orderId/notes",
    summary: "List the notes of an order",
    scope: "payments/orders.readonly",
    location: { in: "query", name: "altId" },
    query: { altType },
    returns: list(object()),
    // The documents say only "notes", so the response is a bare array.
    handle: ({ params }, { world }) => {
      const { orderNotes } = world
      const order = find(world.orders, params["orderId"], "Order")
      return `[${oldestFirst(orderNotes.children(order.id!))
        .map((row) => orderNotes.full(row))
        .join(",")}]`
    }
  }
]

/** Finds an order. An unknown one is a 400, not a 404 (A 7, B 4.4). */
export const findOrder = ({ world }: Service, id: string | undefined): Entry => {
  const order = world.orders.get(String(id))
  if (order === undefined) throw malformed(`Order with id ${id} not found`)
  return order
}

/** Whether a time is on the days from `startAt` to `endAt`, both included. The documents name no time zone, so it is UTC. */
export const during = ({ endAt, startAt }: Data): ((instant: number) => boolean) => {
  const from = startAt === undefined ? -Infinity : Date.parse(String(startAt))
  const to = endAt === undefined ? Infinity : Date.parse(String(endAt)) + dayMs
  return (instant) => instant >= from && instant < to
}

const filter = (query: Data, { world }: Service): Filter | undefined => {
  const { contactId, funnelProductIds, paymentMode, paymentStatus, search, sourceId, status } = query
  const isInTime = during(query)
  const productIds = funnelProductIds === undefined ? undefined : String(funnelProductIds).split(",")
  const looksInside = [paymentMode, paymentStatus, productIds, search, sourceId, status].some((value) => value)
  const names = "status paymentStatus paymentMode startAt endAt search contactId funnelProductIds sourceId"
  return filterBy(query, names, (row) => {
    if (!isInTime(row.created)) return false
    if (contactId !== undefined && row.parent !== contactId) return false
    if (!looksInside) return true
    const order = world.orders.data(row)
    const source = (order["source"] ?? {}) as Data
    const items = (order["items"] ?? []) as ReadonlyArray<{ product?: Data }>
    return (
      (status === undefined || order["status"] === status) &&
      (paymentStatus === undefined || order["paymentStatus"] === paymentStatus) &&
      (paymentMode === undefined || order["liveMode"] === (paymentMode === "live")) &&
      (sourceId === undefined || source["id"] === sourceId) &&
      (productIds === undefined || items.some((item) => productIds.includes(String(item.product?.["_id"])))) &&
      containsText(search, order["contactName"], source["name"])
    )
  })
}
