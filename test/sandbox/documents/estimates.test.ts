import { assert, describe, it } from "vitest"
import { sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 600 })
const query = `?altId=${s.locationId}&altType=location`

describe("estimates", () => {
  it("are listed completely, and the list needs limit and offset", async () => {
    const path = `/invoices/estimate/list${query}`
    const rows = await walkAll(s, path, "estimates", "estimates", [10, 100])
    const { body } = await s.get(`${path}&limit=1&offset=0&status=accepted`)
    assert.equal(body["total"], rows.filter((row) => row["estimateStatus"] === "accepted").length)
    assert.isString(body["traceId"])
    const { id } = rows[0]!["contactDetails"]
    assert.isAtLeast((await s.get(`${path}&limit=1&offset=0&contactId=${id}&status=all`)).body["total"], 1)
    const { total } = (await s.get(`${path}&limit=1&offset=0&startAt=2000-01-01&endAt=2000-02-01`)).body
    assert.equal(total, 0)
    assert.deepEqual(await statuses([s.get(path), s.get(`${path}&limit=1&offset=0&status=lost`)]), [422, 422])
  })

  it("have numbers: the next one follows the highest, also that of a deleted estimate", async () => {
    const next = async () => (await s.get(`/invoices/estimate/number/generate${query}`)).body
    const all = (await s.records("estimates")).toSorted((a, b) => a["estimateNumber"] - b["estimateNumber"])
    const last = all.at(-1)!
    const { estimateNumber, traceId } = await next()
    assert.deepEqual([estimateNumber, typeof traceId], [last["estimateNumber"] + 1, "string"])
    await s.post("/__sandbox/remove", { collection: "estimates", id: last["_id"] })
    assert.equal((await next())["estimateNumber"], estimateNumber)
  })

  it("that repeat have a rule", async () => {
    const repeating = (await s.records("estimates")).filter((row) => row["frequencySettings"].enabled)
    assert.isNotEmpty(repeating)
    for (const { frequencySettings } of repeating) {
      const { interval, intervalType, startDate } = frequencySettings.schedule.rrule
      assert.include(["yearly", "monthly", "weekly", "daily", "hourly", "minutely", "secondly"], intervalType)
      assert.isAtLeast(interval, 1)
      assert.match(startDate, /^\d{4}-\d\d-\d\d$/)
    }
  })
})

describe("estimate templates", () => {
  const path = "/invoices/estimate/template"

  it("are listed completely, searched and previewed", async () => {
    const rows = await walkAll(s, path + query, "data", "estimate_templates", [10, 100])
    const { body } = await s.get(`${path}${query}&limit=10&offset=0&search=${rows[0]!["_id"]}`)
    assert.deepEqual([body["totalCount"], typeof body["traceId"]], [1, "string"])
    const preview = await s.get(`${path}/preview${query}&templateId=${rows[0]!["_id"]}`)
    assert.deepEqual(preview.body, rows[0])
    const refused = [
      s.get(path + query),
      s.get(`${path}/preview${query}`),
      s.get(`${path}/preview${query}&templateId=x`)
    ]
    assert.deepEqual(await statuses(refused), [422, 422, 404])
  })
})
