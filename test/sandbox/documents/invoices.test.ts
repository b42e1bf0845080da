import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 600 })
const query = `?altId=${s.locationId}&altType=location`

describe("the invoice list", () => {
  it("is complete in order of the issue date, and needs limit and offset", async () => {
    const rows = await walkAll(s, `/invoices/${query}`, "invoices", "invoices", [10, 100])
    const dates = rows.map((row) => row["issueDate"])
    assert.deepEqual(dates, dates.toSorted().toReversed())
    const { body } = await s.get(`/invoices/${query}&limit=100&offset=0&sortField=issueDate&sortOrder=ascend`)
    assert.equal(body["total"], rows.length)
    assert.equal(body["invoices"][0].issueDate, dates.at(-1))
    const refused = ["", "&limit=10", "&offset=0", "&limit=101&offset=0", "&limit=10&offset=0&sortField=name"]
    assert.deepEqual(
      await statuses(refused.map((more) => s.get(`/invoices/${query}${more}`))),
      [422, 422, 422, 400, 422]
    )
    assert.equal((await s.get(`/invoices/?altId=${s.locationId}&limit=1&offset=0`)).status, 422)
  })

  it("has nine fields of each invoice, and a single read has all fields", async () => {
    const [seeded] = await s.records("invoices")
    const { body } = await s.get(`/invoices/${query}&limit=1&offset=0&search=${seeded!["_id"]}`)
    const [row] = body["invoices"]
    const names = "_id status name invoiceNumber currency total amountDue issueDate dueDate".split(" ")
    assert.deepEqual(
      Object.keys(row),
      names.filter((name) => row[name] !== undefined)
    )
    const single = (await s.get(`/invoices/${row._id}${query}`)).body
    assert.deepEqual(single, seeded)
    assert.isNotEmpty(single["invoiceItems"])
    assert.isNumber(single["invoiceNumber"])
  })

  it("can be filtered by status, contact, mode and day", async () => {
    const all = await s.records("invoices")
    const total = async (more: string) => (await s.get(`/invoices/${query}&limit=1&offset=0${more}`)).body["total"]
    const count = (test: (row: Json) => boolean) => all.filter(test).length
    assert.equal(
      await total("&status=paid"),
      count((row) => row["status"] === "paid")
    )
    const { id, name } = all[0]!["contactDetails"]
    assert.equal(
      await total(`&contactId=${id}`),
      count((row) => row["contactDetails"].id === id)
    )
    assert.isAtLeast(await total(`&search=${encodeURIComponent(name.toUpperCase())}`), 1)
    assert.equal(
      await total("&paymentMode=test"),
      count((row) => row["liveMode"] === false)
    )
    const days = all.map((row) => row["issueDate"]).toSorted()
    const [from, to] = [days[20], days[80]]
    const within = count((row) => row["issueDate"] >= from && row["issueDate"] <= to)
    assert.equal(await total(`&startAt=${from}&endAt=${to}`), within)
    assert.equal((await s.get(`/invoices/${query}&limit=1&offset=0&startAt=1-2-2026`)).status, 422)
  })
})

it("the next number of an invoice follows the highest one, also that of a deleted invoice", async () => {
  const next = async () => (await s.get(`/invoices/generate-invoice-number${query}`)).body["invoiceNumber"]
  const all = (await s.records("invoices")).toSorted((a, b) => a["invoiceNumber"] - b["invoiceNumber"])
  const last = all.at(-1)!
  assert.equal(await next(), last["invoiceNumber"] + 1)
  await s.post("/__sandbox/remove", { collection: "invoices", id: last["_id"] })
  assert.equal(await next(), last["invoiceNumber"] + 1)
})

it("the settings have the defaults", async () => {
  const { body } = await s.get(`/invoices/settings${query}`)
  for (const name of ["termsNote", "estimatesTermsNote", "title", "estimatesTitle", "invoiceNumberPrefix"]) {
    assert.isString(body[name])
  }
  assert.deepEqual([body], await s.records("invoice_settings"))
})

it("invoice templates are listed at the path of the field notes", async () => {
  const rows = await walkAll(s, `/invoices/template${query}`, "data", "invoice_templates", [10, 100])
  const { body } = await s.get(`/invoices/template${query}&limit=10&offset=0&search=deck`)
  assert.equal(body["totalCount"], rows.filter((row) => /deck/i.test(row["name"])).length)
  assert.equal((await s.get(`/invoices/template${query}`)).status, 422)
})
