import { assert, describe, it } from "vitest"
import { type Json, ids, sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 300 })
const locationId = s.locationId
const query = `?locationId=${locationId}`
const all = await s.records("prices")
const byProduct = Map.groupBy(all, (row) => row["product"] as string)
const [largest] = [...byProduct].toSorted((a, b) => b[1].length - a[1].length)
const [productId, own] = largest!

const once = { locationId, name: "Once", type: "one_time", amount: 12.34, currency: "USD" }
const create = (fields: Json = {}) => s.post(`/products/${productId}/price`, { ...once, ...fields })

describe("prices", () => {
  it("are many for one product and none for another, and are listed completely", async () => {
    assert.isAbove(own.length, 20)
    const rows: Array<Json> = []
    for (let size = 10; size === 10;) {
      const { body } = await s.get(`/products/${productId}/price${query}&offset=${rows.length}`)
      assert.equal(body["total"], own.length)
      size = body["prices"].length
      rows.push(...body["prices"])
    }
    assert.deepEqual(ids(rows), ids(own))
    const products = await s.records("products")
    const without = products.find((row) => !byProduct.has(row["_id"]))!
    const none = (await s.get(`/products/${without["_id"]}/price${query}`)).body
    assert.deepEqual(none, { prices: [], total: 0 })
    const two = own.slice(0, 2).map((row) => row["_id"])
    assert.deepEqual(
      ids((await s.get(`/products/${productId}/price${query}&ids=${two.join(",")}`)).body["prices"]),
      two.sort()
    )
    const refused = [s.get(`/products/${productId}/price`), s.get(`/products/unknown/price${query}`)]
    assert.deepEqual(await statuses(refused), [422, 404])
  })

  it("can be read, created, replaced and deleted below their product", async () => {
    const [first] = own
    assert.deepEqual((await s.get(`/products/${productId}/price/${first!["_id"]}${query}`)).body, first)
    const { body, status } = await create({ sku: "S-1", compareAtPrice: 15, availableQuantity: 3 })
    assert.deepEqual([status, body["product"], body["amount"], body["compareAtPrice"]], [201, productId, 12.34, 15])
    assert.isUndefined(body["sku"])
    const path = `/products/${productId}/price/${body["_id"]}`
    const put = await s.send("PUT", path, { ...once, amount: 1 })
    assert.deepEqual([put.status, put.body["amount"], put.body["compareAtPrice"]], [200, 1, undefined])
    assert.equal(put.body["product"], productId)
    const elsewhere = [...byProduct.keys()].find((id) => id !== productId)!
    assert.equal((await s.get(`/products/${elsewhere}/price/${body["_id"]}${query}`)).status, 404)
    assert.deepEqual((await s.send("DELETE", path + query)).body, { status: true })
    assert.equal((await s.get(path + query)).status, 404)
  })

  it("need an interval only if they recur", async () => {
    const recurring = { interval: "month", intervalCount: 3 }
    const made = await create({ type: "recurring", recurring, trialPeriod: 7, totalCycles: 4 })
    assert.deepEqual([made.status, made.body["recurring"]], [201, recurring])
    const wrong = [
      { type: "recurring" },
      { recurring },
      { type: "recurring", recurring: { interval: "hour", intervalCount: 1 } },
      { type: "recurring", recurring: { interval: "month" } },
      { type: "recurring", recurring, totalCycles: 0 },
      { amount: -1 },
      { currency: "dollar" },
      { shippingOptions: { weight: { value: 1, unit: "stone" } } },
      { name: "" }
    ]
    for (const fields of wrong) assert.equal((await create(fields)).status, 422, JSON.stringify(fields))
    assert.equal((await create({ amount: "12" })).status, 400)
  })
})

describe("the inventory", () => {
  const path = `/products/inventory?altId=${locationId}&altType=location`

  it("lists every price, with an object as total", async () => {
    const rows = await walkAll(s, path, "inventory", "inventory", [undefined, 100])
    assert.deepEqual((await s.get(path)).body["total"], { total: rows.length })
    assert.isTrue(rows.some((row) => row["sku"] !== undefined) && rows.every((row) => row["amount"] === undefined))
    const { inventory } = (await s.get(`${path}&search=pergola&limit=100`)).body
    assert.isNotEmpty(inventory)
    assert.isTrue(inventory.every((row: Json) => /pergola/i.test(row["productName"] + row["name"])))
    assert.equal((await s.get(`/products/inventory?altId=${locationId}`)).status, 422)
  })

  it("can be set with a list of prices", async () => {
    const priceId = own[1]!["_id"]
    const set = (items: unknown, altType = "location") =>
      s.post("/products/inventory", { altId: locationId, altType, items })
    const { body, status } = await set([{ priceId, availableQuantity: 77 }])
    assert.deepEqual([status, body], [201, { status: true }])
    const read = (await s.get(`/products/${productId}/price/${priceId}${query}`)).body
    assert.deepEqual([read["availableQuantity"], read["amount"]], [77, own[1]!["amount"]])
    const wrong = [set([]), set([{ priceId: "unknown" }]), set([{}]), set([{ priceId }], "agency"), set("all")]
    assert.deepEqual(await statuses(wrong), [422, 422, 422, 422, 400])
  })
})
