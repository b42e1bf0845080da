import { assert, describe, it } from "vitest"
import { sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 300 })
const query = `?altId=${s.locationId}&altType=location`
const path = "/payments/coupon"

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
})
