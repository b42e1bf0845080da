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

  it("can be read below their product", async () => {
    const [first] = own
    const id = first!["_id"]
    assert.deepEqual((await s.get(`/products/${productId}/price/${id}${query}`)).body, first)
    const elsewhere = [...byProduct.keys()].find((one) => one !== productId)!
    assert.equal((await s.get(`/products/${elsewhere}/price/${id}${query}`)).status, 404)
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
})
