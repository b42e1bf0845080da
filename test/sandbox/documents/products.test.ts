import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 300 })
const locationId = s.locationId
const query = `?locationId=${locationId}`
const list = async (more: string) => (await s.get(`/products/${query}${more}`)).body

describe("products", () => {
  it("are listed completely, with an array as total", async () => {
    const rows = await walkAll(s, `/products/${query}`, "products", "products", [undefined, 100])
    assert.deepEqual((await list("&limit=1"))["total"], [{ total: rows.length }])
    const dates = (await list("&limit=100&sortOrder=asc"))["products"].map((row: Json) => row["createdAt"])
    assert.deepEqual(dates, dates.toSorted())
    assert.deepEqual(await statuses([s.get("/products/"), s.get(`/products/${query}&limit=101`)]), [422, 400])
  })

  it("can be filtered by name, id, collection and availability", async () => {
    const all = await s.records("products")
    const count = async (more: string) => (await list(`&limit=100${more}`))["products"].length
    const [a, b] = all
    assert.equal(await count(`&productIds=${a!["_id"]}&productIds=${b!["_id"]}`), 2)
    assert.equal(await count("&search=pergola"), all.filter((row) => /pergola/i.test(row["name"])).length)
    assert.equal(await count("&availableInStore=true"), all.filter((row) => row["availableInStore"] === true).length)
    const stored = all.filter((row) => row["availableInStore"]).length
    const other = "&storeId=other"
    const stores = ["&includedInStore=true", "&includedInStore=false", `&storeId=${locationId}`, other]
    assert.deepEqual(await Promise.all(stores.map(count)), [stored, all.length - stored, stored, 0])
    assert.equal(await count(`${other}&includedInStore=false`), all.length)
    const [first, second] = await s.records("collections")
    const within = all.filter((row) => row["collectionIds"]?.includes(first!["_id"]))
    assert.equal(await count(`&collectionSlug=${first!["slug"]}`), within.length)
    const both = all.filter((row) => [first, second].some((one) => row["collectionIds"]?.includes(one!["_id"])))
    assert.equal(await count(`&collectionIds=${first!["_id"]},${second!["_id"]}`), both.length)
  })

  it("have taxes instead of their ids on request", async () => {
    const taxed = (rows: Array<Json>): Json => rows.find((row) => row["taxes"] !== undefined)!
    assert.isString(taxed((await list("&limit=100"))["products"])["taxes"][0])
    assert.isNumber(taxed((await list("&limit=100&expand=tax"))["products"])["taxes"][0].rate)
  })

  it("can be read by id and by slug", async () => {
    const row = (await s.records("products")).find((one) => one["slug"] !== undefined)!
    assert.deepEqual((await s.get(`/products/${row["_id"]}${query}`)).body, row)
    assert.deepEqual((await s.get(`/products/${row["slug"]}${query}`)).body, row)
    const wished = (await s.get(`/products/${row["_id"]}${query}&sendWishlistStatus=true`)).body
    assert.isFalse(wished["isInWishlist"])
    assert.equal((await s.get(`/products/unknown${query}`)).status, 404)
    assert.equal((await s.get(`/products/${row["_id"]}`)).status, 422)
  })

  it("are deleted with their prices", async () => {
    const [price] = await s.records("prices")
    const path = `/products/${price!["product"]}${query}`
    assert.deepEqual((await s.send("DELETE", path)).body, { status: true })
    assert.equal((await s.get(path)).status, 404)
    assert.isFalse((await s.records("prices")).some((row) => row["product"] === price!["product"]))
  })
})

it("collections are listed completely, with a number as total", async () => {
  const path = `/products/collections?altId=${locationId}&altType=location`
  const rows = await walkAll(s, path, "data", "collections", [undefined, 5])
  assert.equal((await s.get(path)).body["total"], rows.length)
  assert.equal((await s.get(`/products/collections?altId=${locationId}`)).status, 422)
})
