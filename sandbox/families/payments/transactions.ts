import { malformed } from "../../http/errors.ts"
import { extend } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { altType, choice, day, described, flag, integer, list, record, text } from "../../http/shape.ts"
import type { Data, Entry, Filter } from "../../account/collection.ts"
import { filterBy, containsText, pageNewest, paging } from "../../http/lists.ts"
import { during } from "./orders.ts"
import { find } from "../records.ts"

/** Transactions and subscriptions (B 4.4, 4.5): read-only, flat in lists and nested in a single read. */
export const transactionRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/payments/transactions",
    summary: "List transactions",
    scope: "payments/transactions.readonly",
    location: { in: "query", name: "altId" },
    query: {
      altType,
      locationId: text,
      entityId: text,
      entitySourceType: text,
      entitySourceSubType: text,
      subscriptionId: text,
      contactId: text,
      paymentMode: choice("live", "test"),
      search: described(text, "Part of the name or email of the contact, or of the source."),
      startAt: day,
      endAt: day,
      ...paging(10)
    },
    returns: { data: list(record("TransactionListItem")), totalCount: integer },
    handle: ({ query }, service) => {
      const { texts, total } = pageNewest(service.world.transactions, query, transactionFilter(query, service))
      return `{"data":${texts},"totalCount":${total}}`
    }
  },
  {
    method: "GET",
    path: "/payments/transactions/:transactionId",
    summary: "Get a transaction",
    scope: "payments/transactions.readonly",
    location: { in: "query", name: "altId" },
    query: { altType },
    returns: record("Transaction"),
    handle: ({ params }, { world }) => {
      const { transactions } = world
      const row = transactions.get(params["transactionId"]!)
      // An unknown transaction is a 400, not a 404 (A 7, B 4.4).
      if (row === undefined) throw malformed(`Transaction with id ${params["transactionId"]} not found`)
      return transactions.full(row)
    }
  },
  {
    method: "GET",
    path: "/payments/subscriptions",
    summary: "List subscriptions",
    scope: "payments/subscriptions.readonly",
    location: { in: "query", name: "altId" },
    query: {
      altType,
      contactId: text,
      id: text,
      entityId: text,
      entitySourceType: text,
      paymentMode: choice("live", "test"),
      startAt: day,
      endAt: day,
      search: described(text, "Part of the name of the contact or of the source."),
      ...paging(10),
      getPaymentsCollectedCount: described(flag, "Adds the payments collected per subscription.")
    },
    returns: { data: list(record("SubscriptionListItem")), totalCount: integer },
    handle: ({ query }, service) => {
      const { subscriptions } = service.world
      const filter = subscriptionFilter(query, service)
      if (query["getPaymentsCollectedCount"] !== true) {
        const { texts, total } = pageNewest(subscriptions, query, filter)
        return `{"data":${texts},"totalCount":${total}}`
      }
      const counting = {
        sorted: subscriptions.sorted.bind(subscriptions),
        list: (row: Entry) => extend(subscriptions.list(row), { paymentsCollectedCount: collected(row, service) })
      }
      const { texts, total } = pageNewest(counting, query, filter)
      return `{"data":${texts},"totalCount":${total}}`
    }
  },
  {
    method: "GET",
    path: "/payments/subscriptions/:subscriptionId",
    summary: "Get a subscription",
    scope: "payments/subscriptions.readonly",
    location: { in: "query", name: "altId" },
    query: { altType },
    returns: record("Subscription"),
    handle: ({ params }, { world }) => {
      const { subscriptions } = world
      return subscriptions.full(find(subscriptions, params["subscriptionId"], "Subscription"))
    }
  }
]

/** The number of successful payments of a subscription, which are transactions of its order or invoice. */
const collected = (row: Entry, { world }: Service): number => {
  const { subscriptions, transactions } = world
  const payments = transactions.children(String(subscriptions.data(row)["entityId"]))
  return payments.filter((payment) => {
    const { status, subscriptionId } = transactions.data(payment)
    return status === "succeeded" && subscriptionId === row.id
  }).length
}

const transactionFilter = (query: Data, { world }: Service): Filter | undefined => {
  const { entitySourceSubType, entitySourceType, paymentMode, search } = query
  const isInTime = during(query)
  const own = ["contactId", "entityId", "subscriptionId"]
  const names = `${own.join(" ")} entitySourceType entitySourceSubType paymentMode search startAt endAt`
  return filterBy(query, names, (row) => {
    if (!isInTime(row.created)) return false
    const data = world.transactions.data(row)
    const source = (data["entitySource"] ?? {}) as Data
    return (
      own.every((name) => query[name] === undefined || data[name] === query[name]) &&
      (entitySourceType === undefined || source["type"] === entitySourceType) &&
      (entitySourceSubType === undefined || source["subType"] === entitySourceSubType) &&
      (paymentMode === undefined || data["liveMode"] === (paymentMode === "live")) &&
      containsText(search, data["contactName"], data["contactEmail"], source["name"])
    )
  })
}

const subscriptionFilter = (query: Data, { world }: Service): Filter | undefined => {
  const { contactId, entityId, entitySourceType, id, paymentMode, search } = query
  const isInTime = during(query)
  return filterBy(query, "contactId id entityId entitySourceType paymentMode startAt endAt search", (row) => {
    if (!isInTime(row.created)) return false
    const data = world.subscriptions.data(row)
    const source = (data["entitySource"] ?? {}) as Data
    return (
      (id === undefined || id === row.id || id === data["subscriptionId"]) &&
      (contactId === undefined || data["contactId"] === contactId) &&
      (entityId === undefined || data["entityId"] === entityId) &&
      (entitySourceType === undefined || source["type"] === entitySourceType) &&
      (paymentMode === undefined || data["liveMode"] === (paymentMode === "live")) &&
      containsText(search, data["contactName"], source["name"])
    )
  })
}
