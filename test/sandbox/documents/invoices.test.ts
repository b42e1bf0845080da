import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 600 })
const alt = { altId: s.locationId, altType: "location" }
const query = `?altId=${s.locationId}&altType=location`
const [contact] = await s.records("contacts")
const [user] = await s.records("users")

const fields: Json = {
  ...alt,
  name: "Deck",
  businessDetails: { name: "Harbor & Pine" },
  currency: "USD",
  items: [
    { name: "Boards", currency: "USD", amount: 10.1, qty: 3 },
    { name: "Labour", currency: "USD", amount: 100, qty: 0.5 }
  ],
  discount: { type: "percentage", value: 10 },
  contactDetails: { id: contact!["id"], name: "Ada", email: "ada@a.example" },
  issueDate: "2026-03-01",
  sentTo: { email: ["ada@a.example"] },
  liveMode: true
}
const create = (more: Json = {}) => s.post("/invoices/", { ...fields, ...more })
const made = async (more: Json = {}): Promise<string> => (await create(more)).body["_id"]
const act = (id: string, action: string, body: Json = {}) => s.post(`/invoices/${id}/${action}`, { ...alt, ...body })
const payment = { mode: "cash", card: { brand: "visa", last4: "4242" }, cheque: { number: "1" }, notes: "Paid" }
const sending = { action: "email", liveMode: true, userId: user!["id"] }

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

describe("an invoice", () => {
  it("is created as a draft with 200, its total and the next number", async () => {
    const { invoiceNumber } = (await s.get(`/invoices/generate-invoice-number${query}`)).body
    const { body, status } = await create()
    assert.deepEqual([status, body["status"], body["total"], body["amountDue"]], [200, "draft", 72.27, 72.27])
    assert.deepEqual([body["invoiceNumber"], body["invoiceItems"].length, body["items"]], [invoiceNumber, 2, undefined])
    const required = "name businessDetails currency items discount contactDetails issueDate sentTo liveMode altType"
    for (const name of required.split(" ")) assert.equal((await create({ [name]: undefined })).status, 422, name)
    const wrong = [
      { items: [{ name: "x" }] },
      { discount: { type: "half", value: 1 } },
      { sentTo: {} },
      { contactDetails: { id: "unknown", name: "x" } },
      { issueDate: "March" },
      { issueDate: "2026-02-30" },
      { lateFeesConfiguration: { enable: true } }
    ]
    for (const more of wrong) assert.equal((await create(more)).status, 422, JSON.stringify(more))
    assert.equal((await create({ liveMode: "true" })).status, 400)
  })

  it("can be changed with `invoiceItems`, not with `items`, and deleted", async () => {
    const id = await made()
    const { items, ...rest } = fields
    const body = { ...rest, dueDate: "2026-04-01" }
    assert.equal((await s.send("PUT", `/invoices/${id}`, { ...body, items })).status, 422)
    const changed = await s.send("PUT", `/invoices/${id}`, { ...body, invoiceItems: items.slice(0, 1), name: "Less" })
    assert.deepEqual([changed.status, changed.body["name"], changed.body["total"]], [200, "Less", 27.27])
    const deleted = await s.send("DELETE", `/invoices/${id}${query}`)
    assert.deepEqual([deleted.status, deleted.body["_id"]], [200, id])
    assert.equal((await s.get(`/invoices/${id}${query}`)).status, 404)
  })

  it("can be paid in parts, and each payment is a transaction", async () => {
    const id = await made()
    const first = await act(id, "record-payment", { ...payment, amount: 20 })
    assert.equal(first.body["success"], true)
    assert.deepEqual([first.body["invoice"].status, first.body["invoice"].amountDue], ["partially_paid", 52.27])
    const second = await act(id, "record-payment", payment)
    assert.deepEqual([second.body["invoice"].status, second.body["invoice"].amountDue], ["paid", 0])
    const { body } = await s.get(`/payments/transactions${query}&entityId=${id}`)
    assert.deepEqual(body["data"].map((row: Json) => row["amount"]).sort(), [20, 52.27])
    assert.equal((await act(id, "record-payment", payment)).status, 409)
    assert.equal((await act(id, "void")).status, 409)
    for (const amount of [1000, 0]) {
      assert.equal((await act(await made(), "record-payment", { ...payment, amount })).status, 422)
    }
    for (const name of ["mode", "card", "cheque", "notes"]) {
      assert.equal((await act(id, "record-payment", { ...payment, [name]: undefined })).status, 422, name)
    }
  })

  it("cannot have a total below its payments", async () => {
    const id = await made()
    await act(id, "record-payment", { ...payment, amount: 50 })
    const { items, ...rest } = fields
    const put = (invoiceItems: Array<Json>) =>
      s.send("PUT", `/invoices/${id}`, { ...rest, invoiceItems, dueDate: "2026-04-01" })
    assert.equal((await put(items.slice(0, 1))).status, 422)
    assert.equal((await s.get(`/invoices/${id}${query}`)).body["amountDue"], 22.27)
    assert.deepEqual((await put([...items, ...items])).body["amountDue"], 94.54)
  })

  it("needs a unique integer as number, which is not used again", async () => {
    const next = async () => (await s.get(`/invoices/generate-invoice-number${query}`)).body["invoiceNumber"]
    for (const invoiceNumber of ["abc", "12a", 1.5, -1, 0, ["7"]]) {
      assert.equal((await create({ invoiceNumber })).status, 422, JSON.stringify(invoiceNumber))
    }
    const first = (await create({ invoiceNumber: "70001" })).body
    assert.equal(first["invoiceNumber"], 70_001)
    assert.deepEqual(await statuses([create({ invoiceNumber: 70_001 }), create({ invoiceNumber: 1001 })]), [409, 409])
    const put = (id: string, invoiceNumber: unknown) => {
      const { items: invoiceItems, ...rest } = fields
      return s.send("PUT", `/invoices/${id}`, { ...rest, invoiceItems, dueDate: "2026-04-01", invoiceNumber })
    }
    const other = await made()
    const refused = [put(other, 70_001), put(other, "abc"), put(first["_id"], "70001")]
    assert.deepEqual(await statuses(refused), [409, 422, 200])
    const last = (await create()).body
    assert.equal(last["invoiceNumber"], 70_003)
    await s.send("DELETE", `/invoices/${last["_id"]}${query}`)
    assert.equal(await next(), 70_004)
  })

  it("cannot be paid, sent or changed after it is voided", async () => {
    const id = await made()
    assert.equal((await act(id, "void")).body["status"], "void")
    const lateFeesConfiguration = {
      enable: true,
      value: 5,
      type: "fixed",
      frequency: { intervalCount: 1, interval: "month" }
    }
    const patch = s.send("PATCH", `/invoices/${id}/late-fees-configuration`, { ...alt, lateFeesConfiguration })
    assert.equal((await patch).status, 409)
    const put = { ...fields, invoiceItems: fields["items"], dueDate: "2026-04-01" }
    const refused = [act(id, "void"), act(id, "record-payment", payment), act(id, "send", sending)]
    assert.deepEqual(await statuses([...refused, s.send("PUT", `/invoices/${id}`, put)]), [409, 409, 409, 409])
    assert.equal((await s.post(`/invoices/${id}/void`, {})).status, 422)
    assert.equal((await act("unknown", "void")).status, 404)
  })

  it("is sent by a known user", async () => {
    const id = await made()
    const { body, status } = await act(id, "send", { ...sending, autoPayment: { enable: false } })
    assert.deepEqual([status, body["invoice"].status, body["emailData"].to], [200, "sent", "ada@a.example"])
    const wrong = [
      { userId: "nobody" },
      { action: "pigeon" },
      { autoPayment: {} },
      { action: "send_manually", sentFrom: { fromName: "Us" } }
    ]
    for (const more of wrong) assert.equal((await act(id, "send", { ...sending, ...more })).status, 422)
  })

  it("can be created, changed and sent by text2pay", async () => {
    const { businessDetails: _, discount: __, ...rest } = fields
    const pay = (more: Json) => s.post("/invoices/text2pay", { ...rest, userId: user!["id"], ...more })
    const draft = (await pay({ action: "draft" })).body
    assert.deepEqual([draft["invoice"].status, draft["invoice"].total], ["draft", 80.3])
    assert.match(draft["invoiceUrl"], /^https:/)
    const sent = (await pay({ action: "send", id: draft["invoice"]._id, name: "Again" })).body
    assert.deepEqual([sent["invoice"].status, sent["invoice"].name], ["sent", "Again"])
    assert.equal(sent["invoice"]._id, draft["invoice"]._id)
    const wrong = [
      pay({ action: "draft", id: "unknown" }),
      pay({ action: "save" }),
      pay({ action: "send", userId: "x" })
    ]
    assert.deepEqual(await statuses(wrong), [404, 422, 422])
  })

  it("accepts a configuration of late fees", async () => {
    const id = await made()
    const frequency = { intervalCount: 1, interval: "month" }
    const lateFeesConfiguration = { enable: true, value: 5, type: "fixed", frequency }
    const set = (body: Json) => s.send("PATCH", `/invoices/${id}/late-fees-configuration`, { ...alt, ...body })
    assert.deepEqual((await set({ lateFeesConfiguration })).body["lateFeesConfiguration"], lateFeesConfiguration)
    const grace = { intervalCount: 3, interval: "week" }
    assert.equal((await set({ lateFeesConfiguration: { ...lateFeesConfiguration, grace } })).status, 422)
    assert.equal((await set({})).status, 422)
  })
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
