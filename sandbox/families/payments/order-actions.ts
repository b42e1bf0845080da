import { iso } from "../../account/clock.ts"
import { conflict, invalid } from "../../http/errors.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import {
  altType,
  anything,
  between,
  choice,
  flag,
  list,
  number,
  object,
  record,
  required,
  text
} from "../../http/shape.ts"
import type { Data, Entry } from "../../account/collection.ts"
import { checkPayment } from "../invoices/document-shapes.ts"
import { oldestFirst } from "../../http/lists.ts"
import { findOrder } from "./orders.ts"
import { amountOf, cents } from "../../account/seeded.ts"
import { addRecord, changeRecord, find } from "../records.ts"

const trackingNames = ["trackingNumber", "shippingCarrier", "trackingUrl"]

/** Fulfillments, recorded payments and notes of an order (B 4.4). */
export const orderActionRoutes: ReadonlyArray<Route> = [
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
    method: "POST",
    path: "/payments/orders/:orderId/fulfillments",
    summary: "Fulfill an order",
    scope: "payments/orders.write",
    location: { in: "body", name: "altId" },
    status: 201,
    body: {
      altType,
      trackings: required(list(object(Object.fromEntries(trackingNames.map((name) => [name, text]))))),
      items: required(list(object({ priceId: required(text), qty: required(between(number, 1)) }), 1)),
      notifyCustomer: required(flag)
    },
    ignoresNull: true,
    returns: { status: flag, data: record("Fulfillment") },
    handle: ({ body, params }, service) => {
      const { orderFulfillments } = service.world
      const order = find(service.world.orders, params["orderId"], "Order")
      const ordered = (service.world.orders.data(order)["items"] ?? []) as ReadonlyArray<Data>
      const left = unsent(service, order, ordered)
      const items = (body["items"] as ReadonlyArray<Data>).map(({ priceId, qty }, place) => {
        const item = ordered.find((one) => priceOf(one) === priceId)
        if (item === undefined) throw invalid(`items.${place}.priceId is not valid`)
        const rest = left.get(String(priceId))! - Number(qty)
        if (rest < 0) throw invalid(`items.${place}.qty must not be greater than what is still to be sent`)
        left.set(String(priceId), rest)
        return { ...item, _id: service.random.hexId(service.clock.now()), qty }
      })
      const trackings = body["trackings"] as ReadonlyArray<Data>
      const empty = trackings.findIndex((tracking) => trackingNames.every((name) => (tracking[name] ?? "") === ""))
      if (empty >= 0) throw invalid(`trackings.${empty} should not be empty`)
      const account = { altId: service.world.context.locationId, altType: "location" }
      const fields = { ...account, trackings, items }
      const row = addRecord(service, orderFulfillments, fields, { parent: order.id })
      // An order is fulfilled when all items are sent; the documents do not define the transitions.
      const isSent = [...left.values()].every((count) => count <= 0)
      const fulfillmentStatus = isSent ? "fulfilled" : "partially_fulfilled"
      changeRecord(service, service.world.orders, order, { fulfillmentStatus })
      return `{"status":true,"data":${orderFulfillments.full(row)}}`
    }
  },
  {
    method: "POST",
    path: "/payments/orders/:orderId/record-payment",
    summary: "Record a payment of an order",
    scope: "payments/orders.collectPayment",
    location: { in: "body", name: "altId" },
    body: {
      altType,
      mode: required(choice("cash", "card", "cheque", "bank_transfer", "other")),
      card: object({ type: required(choice("visa", "mastercard", "other")), last4: required(text) }),
      cheque: object({ number: required(text) }),
      amount: between(number, 0),
      notes: text,
      meta: anything,
      isPartialPayment: flag
    },
    ignoresNull: true,
    returns: { success: flag },
    errors: [409],
    handle: ({ body, params }, service) => {
      const { orders } = service.world
      const old = findOrder(service, params["orderId"])
      const status = orders.data(old)["paymentStatus"]
      if (status === "paid" || status === "refunded") throw conflict(`An order that is ${status} cannot be paid`)
      const due = dueOf(service, old)
      const { amount = due, isPartialPayment } = body as { amount?: number; isPartialPayment?: boolean }
      checkPayment(body["amount"], due)
      // A payment marks the order as paid (B 4.4), except a partial payment below the amount due.
      const isPartial = isPartialPayment === true && amount < due
      const order = changeRecord(service, orders, old, { paymentStatus: isPartial ? "partially_paid" : "paid" })
      addTransaction(service, order, { ...body, amount })
      service.deliveries.trigger("payment_received", orders.data(order))
      return { success: true }
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

const priceOf = ({ price }: Data): string => String(((price ?? {}) as Data)["_id"])

/** The quantity of each price that is ordered and not yet sent. */
const unsent = ({ world }: Service, order: Entry, ordered: ReadonlyArray<Data>): Map<string, number> => {
  const { orderFulfillments } = world
  const left = new Map<string, number>()
  for (const item of ordered) left.set(priceOf(item), (left.get(priceOf(item)) ?? 0) + Number(item["qty"]))
  for (const row of orderFulfillments.children(order.id!)) {
    const sent = (orderFulfillments.data(row)["items"] ?? []) as ReadonlyArray<Data>
    for (const item of sent) left.set(priceOf(item), (left.get(priceOf(item)) ?? 0) - Number(item["qty"]))
  }
  return left
}

/** The amount of an order minus its successful payments, which are the transactions with the order as parent. */
const dueOf = ({ world }: Service, order: Entry): number => {
  const { transactions } = world
  const payments = transactions.children(order.id!).map((row) => transactions.data(row))
  const paid = payments.reduce((sum, { amount, status }) => sum + (status === "succeeded" ? amountOf(amount) : 0), 0)
  return Math.max(0, cents(amountOf(world.orders.data(order)["amount"]) - paid))
}

/** Adds the transaction of a recorded payment, which has no payment provider. */
const addTransaction = (service: Service, order: Entry, { amount, mode }: Data): void => {
  const data = service.world.orders.data(order)
  const { contactId, contactName, contactSnapshot, currency, liveMode, source } = data
  const fields = {
    altId: service.world.context.locationId,
    altType: "location",
    contactId,
    contactName,
    contactSnapshot,
    currency,
    liveMode,
    amount,
    status: "succeeded",
    entityType: "order",
    entityId: order.id,
    entitySource: source,
    paymentProvider: { type: "manual" },
    paymentMethod: mode,
    fulfilledAt: iso(service.clock.now()),
    amountRefunded: 0
  }
  addRecord(service, service.world.transactions, fields, { parent: order.id })
}
