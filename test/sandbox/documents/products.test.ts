import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 300 })
const locationId = s.locationId
const query = `?locationId=${locationId}`
const alt = { altId: locationId, altType: "location" }
const list = async (more: string) => (await s.get(`/products/${query}${more}`)).body

const create = (fields: Json = {}) =>
  s.post("/products/", { locationId, name: "Bench", productType: "PHYSICAL", ...fields })

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

  it("can be created, replaced completely, and deleted with their prices", async () => {
    const { body, status } = await create({ slug: "bench", description: "Oak", availableInStore: true })
    assert.deepEqual([status, body["isTaxesEnabled"], body["locationId"]], [201, false, locationId])
    const put = { locationId, name: "Table", productType: "SERVICE", prices: [] }
    const replaced = await s.send("PUT", "/products/bench", put)
    assert.deepEqual([replaced.status, replaced.body["_id"], replaced.body["description"]], [200, body["_id"], ""])
    assert.equal(replaced.body["createdAt"], body["createdAt"])
    const price = { locationId, name: "One", type: "one_time", amount: 5, currency: "USD" }
    const { body: made } = await s.post(`/products/${body["_id"]}/price`, price)
    assert.deepEqual((await s.send("DELETE", `/products/${body["_id"]}${query}`)).body, { status: true })
    assert.equal((await s.get(`/products/${body["_id"]}${query}`)).status, 404)
    assert.isFalse((await s.records("prices")).some((row) => row["_id"] === made["_id"]))
  })

  it("always have a description, and a flag for the store", async () => {
    const { body } = await create({ name: "Stool" })
    assert.deepEqual([body["description"], body["availableInStore"]], ["", false])
    const put = { locationId, name: "Stool", productType: "PHYSICAL" }
    const replaced = (await s.send("PUT", `/products/${body["_id"]}`, put)).body
    assert.deepEqual([replaced["description"], replaced["availableInStore"]], ["", false])
    const found = async (value: boolean) =>
      (await list(`&limit=100&search=stool&availableInStore=${value}`))["products"].length
    assert.deepEqual([await found(true), await found(false)], [0, 1])
    for (const row of await s.records("products")) {
      assert.isString(row["description"])
      assert.isBoolean(row["availableInStore"])
    }
  })

  it("must obey the rules for taxes, labels and media", async () => {
    const wrong = [
      { isTaxesEnabled: true },
      { isTaxesEnabled: true, taxes: [] },
      { taxes: ["x"] },
      { isLabelEnabled: true },
      { label: {} },
      { label: { title: "New", startDate: "nodate" } },
      { label: { title: "New", endDate: "2026-02-30" } },
      { productType: "THING" },
      { medias: [{ id: "1", url: "https://a.example/1.jpg", type: "sound" }] },
      { name: undefined },
      { collectionIds: ["unknown"] },
      { medias: [{ id: "1", url: "https://a.example/1.jpg", type: "image", priceIds: ["unknown"] }] }
    ]
    for (const fields of wrong) assert.equal((await create(fields)).status, 422, JSON.stringify(fields))
    assert.equal((await create({ availableInStore: "yes" })).status, 400)
    const right = {
      isTaxesEnabled: true,
      taxes: ["t"],
      isLabelEnabled: true,
      label: { title: "New", startDate: "2026-02-28" },
      slug: "twice"
    }
    assert.equal((await create(right)).status, 201)
    assert.equal((await create({ slug: "twice" })).status, 409)
  })
})

describe("bulk updates", () => {
  const bulk = (body: Json) => s.post("/products/bulk-update", { ...alt, ...body })
  const product = async (amounts: Array<number>): Promise<{ id: string; prices: () => Promise<Array<Json>> }> => {
    const { _id: id } = (await create()).body
    for (const amount of amounts) {
      await s.post(`/products/${id}/price`, { locationId, name: "P", type: "one_time", amount, currency: "USD" })
    }
    return { id, prices: async () => (await s.get(`/products/${id}/price${query}`)).body["prices"] }
  }

  it("raise and lower prices by amount and percentage, and round them to integers", async () => {
    const { id, prices } = await product([10.5, 99.99])
    const cases: Array<[Json, Array<number>]> = [
      [{ type: "INCREASE_BY_AMOUNT", value: 0.25 }, [10.75, 100.24]],
      [{ type: "REDUCE_BY_AMOUNT", value: 20 }, [0, 80.24]],
      [{ type: "SET_NEW_PRICE", value: 33.33 }, [33.33, 33.33]],
      [{ type: "INCREASE_BY_PERCENTAGE", value: 10 }, [36.66, 36.66]],
      [{ type: "REDUCE_BY_PERCENTAGE", value: 50, roundToWhole: true }, [18, 18]]
    ]
    for (const [price, expected] of cases) {
      const { body, status } = await bulk({ type: "bulk-update-price", productIds: [id], price })
      assert.deepEqual([status, body], [201, { status: true }])
      assert.deepEqual(
        (await prices()).map((row) => row["amount"]),
        expected
      )
    }
    const set = { type: "SET_NEW_PRICE", value: 50 }
    await bulk({ type: "bulk-update-price", productIds: [id], price: set, compareAtPrice: { ...set, value: 60 } })
    assert.deepEqual(
      (await prices()).map((row) => row["compareAtPrice"]),
      [60, 60]
    )
  })

  it("change availability, collections and currency, and delete products", async () => {
    const { id, prices } = await product([1])
    const read = async () => (await s.get(`/products/${id}${query}`)).body
    const productIds = [id]
    await bulk({ type: "bulk-update-availability", productIds, availability: true })
    assert.isTrue((await read())["availableInStore"])
    await bulk({ type: "bulk-update-availability", productIds, availability: false, filters: { search: "other" } })
    assert.isTrue((await read())["availableInStore"])
    const [{ _id: collectionId }] = (await s.records("collections")) as [Json]
    await bulk({ type: "bulk-update-product-collection", productIds, collectionIds: [collectionId] })
    assert.deepEqual((await read())["collectionIds"], [collectionId])
    await bulk({ type: "bulk-update-currency", productIds, currency: "CAD" })
    assert.equal((await prices())[0]!["currency"], "CAD")
    await bulk({ type: "bulk-delete-products", productIds })
    assert.equal((await s.get(`/products/${id}${query}`)).status, 404)
  })

  it("need the properties of their type", async () => {
    const { id } = await product([])
    const productIds = [id]
    const wrong = [
      { type: "bulk-update-price", productIds },
      { type: "bulk-update-price", productIds, price: { type: "DOUBLE", value: 1 } },
      { type: "bulk-update-price", productIds, price: { type: "SET_NEW_PRICE" } },
      { type: "bulk-update-availability", productIds },
      { type: "bulk-update-currency", productIds, currency: "dollars" },
      { type: "bulk-update-product-collection", productIds, collectionIds: ["unknown"] },
      { type: "bulk-delete-products", productIds, filters: { productType: "THING" } },
      { type: "bulk-delete-products", productIds: [] },
      { type: "bulk-delete-products", productIds: ["unknown"] },
      { type: "bulk-dance", productIds },
      { type: "bulk-delete-products", productIds, altType: "company" }
    ]
    for (const body of wrong) assert.equal((await bulk(body)).status, 422, JSON.stringify(body))
  })
})

it("collections are listed completely, with a number as total", async () => {
  const path = `/products/collections?altId=${locationId}&altType=location`
  const rows = await walkAll(s, path, "data", "collections", [undefined, 5])
  assert.equal((await s.get(path)).body["total"], rows.length)
  assert.equal((await s.get(`/products/collections?altId=${locationId}`)).status, 422)
})
