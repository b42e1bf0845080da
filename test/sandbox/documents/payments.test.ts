import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 600 })
const query = `?altId=${s.locationId}&altType=location`

describe("transactions", () => {
  const path = `/payments/transactions${query}`
  const total = async (more: string) => (await s.get(`${path}&limit=1${more}`)).body["totalCount"]

  it("are complete and flat in the list, and nested in a single read", async () => {
    const rows = await walkAll(s, path, "data", "transactions", [undefined, 100])
    const [flat] = rows
    const { body } = await s.get(`/payments/transactions/${flat!["_id"]}${query}`)
    assert.equal(body["entitySource"].type, flat!["entitySourceType"])
    assert.equal(body["paymentProvider"].type, flat!["paymentProviderType"])
    assert.deepEqual([flat!["entitySource"], body["entitySourceType"]], [undefined, undefined])
    const records = await s.records("transactions")
    assert.deepEqual(
      records.find((row) => row["_id"] === body["_id"]),
      body
    )
  })

  it("refer to orders and invoices that exist", async () => {
    const known = new Set([...(await s.records("orders")), ...(await s.records("invoices"))].map((row) => row["_id"]))
    const rows = await s.records("transactions")
    assert.isTrue(rows.every((row) => known.has(row["entityId"])))
    assert.deepEqual(new Set(rows.map((row) => row["entityType"])), new Set(["order", "invoice"]))
  })

  it("can be filtered by order or invoice, contact, mode and day, and an unknown transaction is 400", async () => {
    const rows = await s.records("transactions")
    const count = (test: (row: Json) => boolean) => rows.filter(test).length
    const { contactId, entityId } = rows[5]!
    assert.equal(
      await total(`&entityId=${entityId}`),
      count((row) => row["entityId"] === entityId)
    )
    assert.equal(
      await total(`&contactId=${contactId}`),
      count((row) => row["contactId"] === contactId)
    )
    assert.equal(
      await total("&entitySourceType=invoice"),
      count((row) => row["entitySource"].type === "invoice")
    )
    assert.equal(
      await total("&paymentMode=test"),
      count((row) => row["liveMode"] === false)
    )
    const { subscriptionId } = rows.find((row) => row["subscriptionId"] !== undefined)!
    assert.equal(
      await total(`&subscriptionId=${subscriptionId}`),
      count((row) => row["subscriptionId"] === subscriptionId)
    )
    const days = rows.map((row) => row["createdAt"].slice(0, 10)).toSorted()
    const within = days.filter((day) => day >= days[30]! && day <= days[90]!).length
    assert.equal(await total(`&startAt=${days[30]}&endAt=${days[90]}`), within)
    const refused = [
      `/payments/transactions/unknown${query}`,
      `/payments/transactions?altId=${s.locationId}`,
      `${path}&limit=101`
    ]
    assert.deepEqual(await statuses(refused.map((one) => s.get(one))), [400, 422, 400])
  })
})

describe("the payments of the seeded account", async () => {
  const [orders, invoices, transactions, subscriptions, fulfillments] = (await Promise.all(
    "orders invoices transactions subscriptions order_fulfillments".split(" ").map((name) => s.records(name))
  )) as [Array<Json>, Array<Json>, Array<Json>, Array<Json>, Array<Json>]
  const byId = (rows: Array<Json>) => new Map(rows.map((row) => [row["_id"], row]))
  const sum = (rows: Array<Json>) => Math.round(rows.reduce((total, row) => total + row["amount"], 0) * 100) / 100
  const paymentsOf = Map.groupBy(transactions, (row) => row["entityId"])
  const paid = ({ _id }: Json) => sum((paymentsOf.get(_id) ?? []).filter((row) => row["status"] === "succeeded"))

  it("have the contact of their order or invoice, and at most its amount", () => {
    const sold = { order: byId(orders), invoice: byId(invoices) }
    for (const row of transactions) {
      const of = sold[row["entityType"] as "order" | "invoice"].get(row["entityId"])!
      assert.deepEqual(
        [row["contactId"], row["currency"], row["liveMode"]],
        [of["contactId"], of["currency"], of["liveMode"]]
      )
      assert.isAtMost(row["amount"], of["amount"] ?? of["total"])
      assert.isAtLeast(Date.parse(row["createdAt"]), Date.parse(of["createdAt"]))
    }
  })

  it("add up to the paid amount of their order or invoice", () => {
    const states = new Set<string>()
    for (const order of orders) {
      const { amount, paymentStatus } = order
      states.add(paymentStatus)
      if (paymentStatus === "paid") assert.equal(paid(order), amount)
      else if (paymentStatus === "partially_paid") assert.isTrue(paid(order) > 0 && paid(order) < amount)
      else assert.equal(paid(order), 0, paymentStatus)
      assert.equal(
        order["status"] === "refunded",
        paymentStatus === "refunded" && order["status"] !== "awaiting_pickup"
      )
    }
    assert.deepEqual([...states].toSorted(), ["paid", "partially_paid", "refunded", "unpaid"])
    for (const invoice of invoices) assert.equal(paid(invoice), invoice["amountPaid"])
  })

  it("belong to subscriptions of the same contact, which refer to orders and invoices", () => {
    const sold = { order: byId(orders), invoice: byId(invoices) }
    for (const { contactId, entityId, entityType } of subscriptions) {
      assert.equal(entityId === undefined, entityType === undefined)
      if (entityId === undefined) continue
      assert.equal(sold[entityType as "order" | "invoice"].get(entityId)!["contactId"], contactId)
    }
    const known = byId(subscriptions)
    const collected = transactions.filter((row) => row["subscriptionId"] !== undefined)
    assert.isNotEmpty(collected)
    for (const { contactId, entityId, subscriptionId } of collected) {
      const subscription = known.get(subscriptionId)!
      assert.deepEqual([subscription["contactId"], subscription["entityId"]], [contactId, entityId])
    }
  })

  it("belong to orders whose fulfillment status matches their fulfillments", async () => {
    const quantity = (rows: Array<Json>) => rows.reduce((total, item) => total + item["qty"], 0)
    const idOf = new Map<string, string>()
    for (const { _id } of orders) {
      const { data } = (await s.get(`/payments/orders/${_id}/fulfillments${query}`)).body
      for (const row of data) idOf.set(row["_id"], _id)
    }
    const sentOf = Map.groupBy(fulfillments, (row) => idOf.get(row["_id"]))
    const states = new Set<string>()
    for (const { _id, fulfillmentStatus, items } of orders) {
      const sent = quantity((sentOf.get(_id) ?? []).flatMap((row) => row["items"]))
      const state = sent === 0 ? "unfulfilled" : sent < quantity(items) ? "partially_fulfilled" : "fulfilled"
      assert.equal(state, fulfillmentStatus)
      states.add(state)
    }
    assert.equal(states.size, 3)
  })

  it("have coupons that refer to prices that exist", async () => {
    const prices = new Set((await s.records("prices")).map((row) => row["_id"]))
    const named = (await s.records("coupons")).flatMap((row) => row["priceIds"] ?? [])
    assert.isNotEmpty(named)
    assert.isTrue(named.every((id) => prices.has(id)))
  })
})

describe("subscriptions", () => {
  const path = `/payments/subscriptions${query}`

  it("are complete and flat in the list, and nested with their schedule in a single read", async () => {
    const rows = await walkAll(s, path, "data", "subscriptions", [undefined, 100])
    const records = await s.records("subscriptions")
    const one = records.find((row) => row["schedule"] !== undefined)!
    const { body } = await s.get(`/payments/subscriptions/${one["_id"]}${query}`)
    assert.deepEqual(body, one)
    assert.isString(body["schedule"].rrule.intervalType)
    const flat = rows.find((row) => row["_id"] === one["_id"])!
    assert.deepEqual([flat["schedule"], flat["entitySource"]], [undefined, undefined])
    assert.equal(flat["entitySourceType"], body["entitySource"].type)
    assert.isObject(flat["status"])
    assert.equal((await s.get(`/payments/subscriptions/unknown${query}`)).status, 404)
  })

  it("have the count of collected payments on request", async () => {
    const [row] = (await s.get(path)).body["data"]
    assert.isUndefined(row.paymentsCollectedCount)
    const [counted] = (await s.get(`${path}&getPaymentsCollectedCount=true`)).body["data"]
    assert.isNumber(counted.paymentsCollectedCount)
    const payments = (await s.records("transactions")).filter((one) => one["status"] === "succeeded")
    const all = (await s.get(`${path}&getPaymentsCollectedCount=true&limit=100`)).body["data"] as Array<Json>
    for (const { _id, paymentsCollectedCount } of all) {
      assert.equal(paymentsCollectedCount, payments.filter((one) => one["subscriptionId"] === _id).length)
    }
    assert.isTrue(all.some((one) => one["paymentsCollectedCount"] > 0))
    const named = (await s.get(`${path}&id=${row._id}`)).body
    assert.deepEqual([named["totalCount"], named["data"][0]._id], [1, row._id])
    assert.equal((await s.get(`${path}&contactId=nobody&entitySourceType=funnel`)).body["totalCount"], 0)
    assert.equal((await s.get("/payments/subscriptions")).status, 422)
  })
})
