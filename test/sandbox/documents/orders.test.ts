import { assert, describe, it } from "vitest"
import { type Json, ids, sandbox } from "../client.ts"
import { walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 400 })
const query = `?altId=${s.locationId}&altType=location`
const all = await s.records("orders")

describe("orders", () => {
  it("are listed completely, and altType is optional", async () => {
    await walkAll(s, `/payments/orders?altId=${s.locationId}`, "data", "orders", [undefined, 100])
    assert.equal((await s.get("/payments/orders?altType=location")).status, 422)
    assert.equal((await s.get(`/payments/orders?altId=${s.locationId}&altType=company`)).status, 422)
  })

  it("can be filtered by status, contact, source and product", async () => {
    const total = async (more: string) => (await s.get(`/payments/orders${query}&limit=1${more}`)).body["totalCount"]
    const count = (test: (row: Json) => boolean) => all.filter(test).length
    const [first] = all
    assert.equal(
      await total("&paymentStatus=unpaid"),
      count((row) => row["paymentStatus"] === "unpaid")
    )
    assert.equal(
      await total("&status=completed&paymentMode=live"),
      count((row) => row["status"] === "completed" && row["liveMode"])
    )
    assert.equal(
      await total(`&contactId=${first!["contactId"]}`),
      count((row) => row["contactId"] === first!["contactId"])
    )
    assert.equal(await total(`&sourceId=${first!["source"].id}`), 1)
    assert.isAtLeast(await total(`&funnelProductIds=none,${first!["items"][0].product._id}`), 1)
    assert.equal(await total("&search=online%20SHOP"), all.length)
    assert.equal((await s.get(`/payments/orders${query}&paymentStatus=maybe`)).status, 422)
  })

  it("have fulfillments", async () => {
    const found: Array<Json> = []
    for (const { _id: id, fulfillmentStatus } of all) {
      const { data, status } = (await s.get(`/payments/orders/${id}/fulfillments${query}`)).body
      assert.isTrue(status)
      assert.equal(data.length > 0, fulfillmentStatus !== "unfulfilled", id)
      found.push(...data)
    }
    assert.deepEqual(ids(found), ids(await s.records("order_fulfillments")))
    assert.equal((await s.get(`/payments/orders/unknown/fulfillments${query}`)).status, 404)
  })

  it("that are new and paid start the workflows with the trigger of a payment", async () => {
    const steps = [{ type: "custom_webhook", url: "http://127.0.0.1:9/paid" }]
    await s.post("/__sandbox/workflows", { name: "Paid", trigger: "payment_received", steps })
    const started = async () => {
      const { delivered, failed, pending, refused } = (await s.get("/__sandbox/deliveries")).body
      return delivered + failed + pending + refused
    }
    const before = await started()
    await s.post("/__sandbox/change", { orders: 0.5 })
    assert.isAbove(await started(), before)
  })

  it("have notes", async () => {
    const notes = await s.records("order_notes")
    const [{ orderId }] = notes as [Json]
    const { body } = await s.get(`/payments/orders/${orderId}/notes${query}`)
    assert.deepEqual(ids(body as unknown as Array<Json>), ids(notes.filter((row) => row["orderId"] === orderId)))
    assert.equal((await s.get(`/payments/orders/${orderId}/notes?altId=${s.locationId}`)).status, 422)
  })
})
