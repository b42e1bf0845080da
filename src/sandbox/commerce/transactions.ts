import { malformed } from "../errors.ts"
import { extend } from "../pages.ts"
import type { Route, Service } from "../route.ts"
import { choice, described, flag, integer, list, record, text } from "../shape.ts"
import type { Data, Entry, Filter } from "../world/collection.ts"
import { day } from "./document-shapes.ts"
import { filterBy, holds, operation, pageNewest, paging } from "./operation.ts"
import { during } from "./orders.ts"
import { find } from "./write.ts"

/** Transactions and subscriptions (B 4.4, 4.5): read only, flat in lists and nested alone. */
export const transactionRoutes: ReadonlyArray<Route> = [
  operation({
    does: "GET /payments/transactions",
    summary: "List transactions",
    scope: "payments/transactions.readonly",
    account: "altId in query",
    query: {
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
      const { texts, total } = pageNewest(service.world.commerce.transactions, query, transactionFilter(query, service))
      return `{"data":${texts},"totalCount":${total}}`
    }
  }),
  operation({
    does: "GET /payments/transactions/:transactionId",
    summary: "Get a transaction",
    scope: "payments/transactions.readonly",
    account: "altId in query",
    returns: record("Transaction"),
    handle: ({ params }, { world }) => {
      const { transactions } = world.commerce
      const row = transactions.get(params["transactionId"]!)
      // An unknown transaction is a 400 here, not a 404 (A 7, B 4.4).
      if (row === undefined) throw malformed(`Transaction with id ${params["transactionId"]} not found`)
      return transactions.full(row)
    }
  }),
  operation({
    does: "GET /payments/subscriptions",
    summary: "List subscriptions",
    scope: "payments/subscriptions.readonly",
    account: "altId in query",
    query: {
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
      const { subscriptions } = service.world.commerce
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
  }),
  operation({
    does: "GET /payments/subscriptions/:subscriptionId",
    summary: "Get a subscription",
    scope: "payments/subscriptions.readonly",
    account: "altId in query",
    returns: record("Subscription"),
    handle: ({ params }, { world }) => {
      const { subscriptions } = world.commerce
      return subscriptions.full(find(subscriptions, params["subscriptionId"], "Subscription"))
    }
  })
]

/** The payments of a subscription that succeeded: they lie under what it was bought with. */
const collected = (row: Entry, { world }: Service): number => {
  const { subscriptions, transactions } = world.commerce
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
    const data = world.commerce.transactions.data(row)
    const source = (data["entitySource"] ?? {}) as Data
    return (
      own.every((name) => query[name] === undefined || data[name] === query[name]) &&
      (entitySourceType === undefined || source["type"] === entitySourceType) &&
      (entitySourceSubType === undefined || source["subType"] === entitySourceSubType) &&
      (paymentMode === undefined || data["liveMode"] === (paymentMode === "live")) &&
      holds(search, data["contactName"], data["contactEmail"], source["name"])
    )
  })
}

const subscriptionFilter = (query: Data, { world }: Service): Filter | undefined => {
  const { contactId, entityId, entitySourceType, id, paymentMode, search } = query
  const isInTime = during(query)
  return filterBy(query, "contactId id entityId entitySourceType paymentMode startAt endAt search", (row) => {
    if (!isInTime(row.created)) return false
    const data = world.commerce.subscriptions.data(row)
    const source = (data["entitySource"] ?? {}) as Data
    return (
      (id === undefined || id === row.id || id === data["subscriptionId"]) &&
      (contactId === undefined || data["contactId"] === contactId) &&
      (entityId === undefined || data["entityId"] === entityId) &&
      (entitySourceType === undefined || source["type"] === entitySourceType) &&
      (paymentMode === undefined || data["liveMode"] === (paymentMode === "live")) &&
      holds(search, data["contactName"], source["name"])
    )
  })
}
