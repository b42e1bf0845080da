import { assert, describe, it } from "vitest"
import { type Json, ids, sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 400 })
const alt = { altId: s.locationId, altType: "location" }
const query = `?altId=${s.locationId}&altType=location`
const all = await s.records("orders")
const act = (id: string, action: string, body: Json = {}) =>
  s.post(`/payments/orders/${id}/${action}`, { ...alt, ...body })
const read = async (id: string) => (await s.get(`/payments/orders/${id}?altId=${s.locationId}`)).body

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

  it("can be fulfilled in parts", async () => {
    const order = all.find((row) => row["items"].length > 1 && row["fulfillmentStatus"] === "unfulfilled")!
    const path = `/payments/orders/${order["_id"]}/fulfillments${query}`
    const before = (await s.get(path)).body
    assert.isTrue(before["status"])
    const trackings = [{ trackingNumber: "1Z", shippingCarrier: "UPS", trackingUrl: "https://t.example/1Z" }]
    const fulfill = (items: unknown, more: Json = {}) =>
      act(order["_id"], "fulfillments", { trackings, items, notifyCustomer: false, ...more })
    const items: Array<Json> = order["items"].map((item: Json) => ({ priceId: item["price"]._id, qty: item["qty"] }))
    const { body, status } = await fulfill(items.slice(0, 1))
    assert.deepEqual([status, body["data"].trackings, body["data"].items[0].qty], [201, trackings, items[0]!["qty"]])
    assert.equal((await read(order["_id"]))["fulfillmentStatus"], "partially_fulfilled")
    assert.equal((await fulfill(items)).status, 422)
    await fulfill(items.slice(1))
    assert.equal((await read(order["_id"]))["fulfillmentStatus"], "fulfilled")
    assert.equal((await fulfill([{ ...items[0], qty: 1 }])).status, 422)
    assert.equal((await s.get(path)).body["data"].length, before["data"].length + 2)
    const wrong = [fulfill([]), fulfill([{ priceId: "x", qty: 1 }]), fulfill(items, { notifyCustomer: undefined })]
    assert.deepEqual(await statuses(wrong), [422, 422, 422])
    assert.equal((await fulfill(items, { trackings: "1Z" })).status, 400)
    const fresh = all.findLast((row) => row["fulfillmentStatus"] === "unfulfilled")!
    const [{ price, qty }] = fresh["items"]
    const send = (more: Json) =>
      act(fresh["_id"], "fulfillments", {
        trackings,
        items: [{ priceId: price._id, qty }],
        notifyCustomer: true,
        ...more
      })
    assert.deepEqual(await statuses([send({ trackings: [...trackings, {}] }), send({ trackings: [] })]), [422, 201])
    assert.equal((await s.get(`/payments/orders/unknown/fulfillments${query}`)).status, 404)
    const shown = await s.records("order_fulfillments")
    assert.isTrue(shown.some((row) => row["_id"] === body["data"]._id))
  })

  it("are paid by a recorded payment, which is also a transaction", async () => {
    const order = all.find((row) => row["paymentStatus"] === "unpaid")!
    const id = order["_id"]
    const pay = (body: Json) => act(id, "record-payment", body)
    const wrong = [{}, { mode: "barter" }, { mode: "card", card: { type: "visa" } }, { mode: "cheque", cheque: {} }]
    assert.deepEqual(await statuses(wrong.map(pay)), [422, 422, 422, 422])
    assert.deepEqual((await pay({ mode: "card", card: { type: "visa", last4: "4242" } })).body, { success: true })
    assert.equal((await read(id))["paymentStatus"], "paid")
    const { body } = await s.get(`/payments/transactions${query}&entityId=${id}&limit=100`)
    assert.isTrue(body["data"].some((row: Json) => row["amount"] === order["amount"] && row["entityType"] === "order"))
    assert.equal((await act("unknown", "record-payment", { mode: "cash" })).status, 400)
  })

  it("can be paid in parts that add up to the amount, but not beyond it", async () => {
    const [order, other] = all.filter((row) => row["paymentStatus"] === "unpaid").slice(1)
    const { _id: id, amount } = order!
    const pay = (body: Json = {}) => act(id, "record-payment", { mode: "cash", isPartialPayment: true, ...body })
    const state = async () => (await read(id))["paymentStatus"]
    assert.deepEqual(await statuses([pay({ amount: amount + 0.01 }), pay({ amount: 0 })]), [422, 422])
    await pay({ amount: 1 })
    assert.equal(await state(), "partially_paid")
    assert.equal((await pay({ amount })).status, 422)
    await pay({ amount: amount - 1 })
    assert.equal(await state(), "paid")
    assert.deepEqual(await statuses([pay({ amount: 1 }), pay({ isPartialPayment: false })]), [409, 409])
    assert.equal(await state(), "paid")
    const marked = { mode: "cash", amount: other!["amount"] / 2 }
    assert.equal((await act(other!["_id"], "record-payment", marked)).status, 200)
    assert.equal((await read(other!["_id"]))["paymentStatus"], "paid")
    const refunded = all.find((row) => row["paymentStatus"] === "refunded")!
    assert.equal((await act(refunded["_id"], "record-payment", { mode: "cash" })).status, 409)
  })

  it("that are partially paid are paid by the rest", async () => {
    const { _id: id, amount } = all.find((row) => row["paymentStatus"] === "partially_paid")!
    assert.equal((await act(id, "record-payment", { mode: "cash", amount })).status, 422)
    assert.equal((await act(id, "record-payment", { mode: "cash" })).status, 200)
    const { body } = await s.get(`/payments/transactions${query}&entityId=${id}&limit=100`)
    const paid = body["data"].filter((row: Json) => row["status"] === "succeeded")
    assert.closeTo(
      paid.reduce((sum: number, row: Json) => sum + row["amount"], 0),
      amount,
      0.001
    )
  })

  it("start the workflows with the trigger of a payment", async () => {
    const steps = [{ type: "custom_webhook", url: "http://127.0.0.1:9/paid" }]
    await s.post("/__sandbox/workflows", { name: "Paid", trigger: "payment_received", steps })
    const started = async () => {
      const { delivered, failed, pending, refused } = (await s.get("/__sandbox/deliveries")).body
      return delivered + failed + pending + refused
    }
    const before = await started()
    const order = all.findLast((row) => row["paymentStatus"] === "unpaid")!
    await act(order["_id"], "record-payment", { mode: "cash" })
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
