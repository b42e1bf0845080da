import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 600 })
const query = `?altId=${s.locationId}&altType=location`

describe("transactions", () => {
  const path = `/payments/transactions${query}`
  const total = async (more: string) => (await s.get(`${path}&limit=1${more}`)).body["totalCount"]

  it("are listed to the end, flat, and read nested", async () => {
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

  it("name orders and invoices that are there", async () => {
    const known = new Set([...(await s.records("orders")), ...(await s.records("invoices"))].map((row) => row["_id"]))
    const rows = await s.records("transactions")
    assert.isTrue(rows.every((row) => known.has(row["entityId"])))
    assert.deepEqual(new Set(rows.map((row) => row["entityType"])), new Set(["order", "invoice"]))
  })

  it("are asked for by what they are of, contact, mode and day; an unknown one is a 400", async () => {
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
    assert.equal(await total(`&subscriptionId=${subscriptionId}`), 1)
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

describe("subscriptions", () => {
  const path = `/payments/subscriptions${query}`

  it("are listed to the end, flat, and read nested with their schedule", async () => {
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

  it("count the payments collected when asked", async () => {
    const [row] = (await s.get(path)).body["data"]
    assert.isUndefined(row.paymentsCollectedCount)
    const [counted] = (await s.get(`${path}&getPaymentsCollectedCount=true`)).body["data"]
    assert.isNumber(counted.paymentsCollectedCount)
    const named = (await s.get(`${path}&id=${row._id}`)).body
    assert.deepEqual([named["totalCount"], named["data"][0]._id], [1, row._id])
    assert.equal((await s.get(`${path}&contactId=nobody&entitySourceType=funnel`)).body["totalCount"], 0)
    assert.equal((await s.get("/payments/subscriptions")).status, 422)
  })
})
