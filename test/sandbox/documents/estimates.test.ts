import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 600 })
const alt = { altId: s.locationId, altType: "location" }
const query = `?altId=${s.locationId}&altType=location`
const [contact] = await s.records("contacts")
const [user] = await s.records("users")

const template: Json = {
  ...alt,
  name: "Pergola",
  businessDetails: { name: "Harbor & Pine" },
  currency: "USD",
  items: [{ name: "Kit", currency: "USD", amount: 2450, qty: 1 }],
  discount: { type: "fixed", value: 50 }
}
const fields: Json = {
  ...template,
  contactDetails: { id: contact!["id"], name: "Ada" },
  frequencySettings: { enabled: false, schedule: {} }
}
const create = (more: Json = {}) => s.post("/invoices/estimate", { ...fields, ...more })
const made = async (): Promise<string> => (await create()).body["_id"]

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

  it("can be created with 201 and a trace id, and changed", async () => {
    const { estimateNumber } = (await s.get(`/invoices/estimate/number/generate${query}`)).body
    const { body, status } = await create()
    assert.deepEqual([status, body["estimateStatus"], body["total"]], [201, "draft", 2400])
    assert.equal(body["estimateNumber"], estimateNumber)
    assert.isString(body["traceId"])
    const put = await s.send("PUT", `/invoices/estimate/${body["_id"]}`, {
      ...fields,
      estimateStatus: "viewed",
      name: "B"
    })
    assert.deepEqual([put.status, put.body["estimateStatus"], put.body["name"]], [200, "viewed", "B"])
    for (const name of "name businessDetails currency items discount contactDetails frequencySettings".split(" ")) {
      assert.equal((await create({ [name]: undefined })).status, 422, name)
    }
  })

  it("need a unique integer as number, which is not used again", async () => {
    assert.equal((await create({ estimateNumber: "abc" })).status, 422)
    const { body } = await create({ estimateNumber: "80001" })
    assert.equal(body["estimateNumber"], 80_001)
    assert.deepEqual(await statuses([create({ estimateNumber: 80_001 }), create({ estimateNumber: 5001 })]), [409, 409])
    const put = (estimateNumber: unknown) =>
      s.send("PUT", `/invoices/estimate/${body["_id"]}`, { ...fields, estimateNumber })
    assert.deepEqual(await statuses([put("abc"), put(5001), put(80_001)]), [422, 409, 200])
    assert.equal((await put("80002")).body["estimateNumber"], 80_002)
    await s.send("DELETE", `/invoices/estimate/${body["_id"]}`, alt)
    const { estimateNumber } = (await s.get(`/invoices/estimate/number/generate${query}`)).body
    assert.equal(estimateNumber, 80_003)
  })

  it("need a valid rule to repeat", async () => {
    const repeat = (rrule: unknown) => create({ frequencySettings: { enabled: true, schedule: { rrule } } })
    const rule = { intervalType: "monthly", interval: 1, startDate: "2026-01-01" }
    assert.deepEqual(
      await statuses([repeat(undefined), repeat({ ...rule, interval: null }), repeat(rule)]),
      [422, 422, 201]
    )
    assert.equal((await create({ frequencySettings: { enabled: true } })).status, 422)
    const wrong = [
      { intervalType: "fortnightly" },
      { interval: 0 },
      { startDate: "1/1/2026" },
      { startDate: "2026-02-30" },
      { startTime: "9:00" },
      { endDate: "later" },
      { endTime: "24:00:00" },
      { dayOfMonth: 0 },
      { dayOfMonth: 29 },
      { dayOfMonth: -2 },
      { dayOfWeek: "monday" },
      { numOfWeek: 0 },
      { numOfWeek: 5 },
      { monthOfYear: "march" },
      { count: 0 }
    ]
    for (const more of wrong) assert.equal((await repeat({ ...rule, ...more })).status, 422, JSON.stringify(more))
    assert.equal((await repeat({ ...rule, interval: "1" })).status, 400)
    const last = { dayOfMonth: -1, dayOfWeek: "su", numOfWeek: -1, monthOfYear: "dec", count: 3, daysBefore: 0 }
    const times = { startTime: "09:00:00", endDate: "2027-01-01", endTime: "23:59:59" }
    assert.equal((await repeat({ ...rule, ...last, ...times })).status, 201)
    const once = { enabled: false, schedule: { rrule: { dayOfWeek: "monday" } } }
    assert.equal((await create({ frequencySettings: once })).status, 422)
  })

  it("of the seeded account have valid rules", async () => {
    const repeating = (await s.records("estimates")).filter((row) => row["frequencySettings"].enabled)
    assert.isNotEmpty(repeating)
    for (const { frequencySettings } of repeating) assert.equal((await create({ frequencySettings })).status, 201)
  })

  it("are deleted with a JSON body, not with a query", async () => {
    const id = await made()
    assert.equal((await s.send("DELETE", `/invoices/estimate/${id}${query}`)).status, 422)
    assert.equal(
      (await s.send("DELETE", `/invoices/estimate/${id}`, alt, { "Content-Type": "text/plain" })).status,
      415
    )
    const deleted = await s.send("DELETE", `/invoices/estimate/${id}`, alt)
    assert.deepEqual([deleted.status, deleted.body["_id"]], [200, id])
    assert.equal((await s.send("DELETE", `/invoices/estimate/${id}`, alt)).status, 404)
  })

  it("can be sent with 201", async () => {
    const sending = { ...alt, action: "sms_and_email", liveMode: true, userId: user!["id"] }
    const send = async (more: Json = {}) => s.post(`/invoices/estimate/${await made()}/send`, { ...sending, ...more })
    const { body, status } = await send()
    assert.deepEqual([status, body["estimateStatus"]], [201, "sent"])
    assert.deepEqual(await statuses([send({ userId: "x" }), send({ action: undefined })]), [422, 422])
  })

  it("can be converted to invoices, and are marked as invoiced on request", async () => {
    const convert = async (body: Json) => s.post(`/invoices/estimate/${await made()}/invoice`, { ...alt, ...body })
    const { body } = await convert({ markAsInvoiced: true, version: "v2" })
    assert.equal(body["estimate"].estimateStatus, "invoiced")
    assert.deepEqual([body["invoice"].status, body["invoice"].total], ["draft", 2400])
    assert.equal((await s.get(`/invoices/${body["invoice"]._id}${query}`)).body["contactDetails"].name, "Ada")
    assert.equal((await convert({ markAsInvoiced: false })).body["estimate"].estimateStatus, "draft")
    assert.deepEqual(await statuses([convert({}), convert({ markAsInvoiced: true, version: "v3" })]), [422, 422])
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

  it("are created with 201 and deleted with a JSON body", async () => {
    const { body, status } = await s.post(path, template)
    assert.deepEqual([status, body["total"]], [201, 2400])
    assert.equal((await s.post(path, { ...template, items: [] })).status, 422)
    assert.equal((await s.send("DELETE", `${path}/${body["_id"]}${query}`)).status, 422)
    assert.equal((await s.send("DELETE", `${path}/${body["_id"]}`, alt)).body["_id"], body["_id"])
    assert.equal((await s.send("DELETE", `${path}/${body["_id"]}`, alt)).status, 404)
  })
})
