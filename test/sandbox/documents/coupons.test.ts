import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 300 })
const alt = { altId: s.locationId, altType: "location" }
const query = `?altId=${s.locationId}&altType=location`
const path = "/payments/coupon"
const fields: Json = {
  ...alt,
  name: "June",
  code: "JUNE",
  discountType: "percentage",
  discountValue: 15,
  startDate: "2020-01-01"
}
const create = (more: Json = {}) => s.post(path, { ...fields, ...more })

describe("coupons", () => {
  it("are listed completely, by status and by name or code", async () => {
    const rows = await walkAll(s, `${path}/list${query}`, "data", "coupons", [10, 100])
    const { body } = await s.get(`${path}/list${query}`)
    assert.deepEqual([body["data"].length, body["totalCount"]], [rows.length, rows.length])
    assert.isString(body["traceId"])
    for (const status of ["active", "expired"]) {
      const { totalCount } = (await s.get(`${path}/list${query}&status=${status}`)).body
      assert.equal(totalCount, rows.filter((row) => row["status"] === status).length)
      assert.isAbove(totalCount, 0)
    }
    const found = (await s.get(`${path}/list${query}&search=${encodeURIComponent(rows[0]!["code"].toLowerCase())}`))
      .body
    assert.isAtLeast(found["totalCount"], 1)
    assert.deepEqual(await statuses([s.get(`${path}/list`), s.get(`${path}/list${query}&status=old`)]), [422, 422])
  })

  it("are read by id and code", async () => {
    const [row] = await s.records("coupons")
    const by = (id: string, code: string) => s.get(`${path}${query}&id=${id}&code=${encodeURIComponent(code)}`)
    assert.deepEqual((await by(row!["_id"], row!["code"])).body, row)
    const refused = [by(row!["_id"], "OTHER"), by("unknown", row!["code"]), by("", row!["code"]), by(row!["_id"], "")]
    assert.deepEqual(await statuses(refused), [404, 404, 422, 422])
  })

  it("can be created, replaced without an id in the path, and deleted with a JSON body", async () => {
    const { body, status } = await create({ usageLimit: 5, limitPerCustomer: 1 })
    assert.deepEqual([status, body["status"], body["usageCount"]], [201, "active", 0])
    // A create has no such member (B 4.6), so it is ignored.
    assert.isUndefined(body["limitPerCustomer"])
    const id = body["_id"]
    const put = await s.send("PUT", path, { ...fields, id, startDate: "2999-01-01" })
    assert.deepEqual([put.status, put.body["status"], put.body["usageLimit"]], [200, "scheduled", undefined])
    assert.equal((await s.send("PUT", path, fields)).status, 422)
    assert.equal((await s.send("PUT", path, { ...alt, id })).status, 422)
    assert.equal((await s.send("DELETE", `${path}${query}&id=${id}`)).status, 422)
    const deleted = (await s.send("DELETE", path, { ...alt, id })).body
    assert.deepEqual([deleted["success"], typeof deleted["traceId"]], [true, "string"])
    assert.equal((await s.send("DELETE", path, { ...alt, id })).status, 404)
    assert.equal((await create({ endDate: "2020-02-01" })).body["status"], "expired")
    assert.equal((await create()).status, 409)
  })

  it("must obey their rules", async () => {
    const wrong = [
      { discountValue: 101 },
      { discountValue: -1 },
      { discountType: "half" },
      { startDate: "soon" },
      { endDate: "2019-01-01" },
      { code: "" },
      { productIds: ["unknown"] },
      { priceIds: [""] },
      { applyToFuturePaymentsConfig: { type: "fixed" } }
    ]
    for (const more of wrong) assert.equal((await create({ code: "NEW", ...more })).status, 422, JSON.stringify(more))
    const [productIds, priceIds] = [await s.records("products"), await s.records("prices")].map((rows) => [
      rows[0]!["_id"]
    ])
    assert.equal((await create({ code: "SOME", productIds, priceIds })).status, 201)
    const fixed = { type: "fixed", duration: 3, durationType: "months" }
    assert.equal((await create({ code: "FIXED", discountType: "amount", discountValue: 500 })).status, 201)
    assert.equal((await create({ code: "REST", applyToFuturePaymentsConfig: fixed })).status, 201)
  })
})
