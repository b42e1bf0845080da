import { assert, describe, it } from "vitest"
import { ids, type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 800, orders: 250, submissions: 900, tasks: 130, users: 60 })
const { companyId, locationId } = s

/** Reads pages by an offset until a page is short. */
const sweep = async (size: number, read: (offset: number) => Promise<Array<Json>>): Promise<Array<Json>> => {
  const rows: Array<Json> = []
  for (let offset = 0; ; offset += size) {
    const page = await read(offset)
    rows.push(...page)
    if (page.length < size) return rows
  }
}

describe("users", () => {
  it("are returned in pages by name, with the count of all matches", async () => {
    const path = `/users/search?companyId=${companyId}`
    const rows = await sweep(25, async (skip) => (await s.get(`${path}&skip=${skip}`)).body["users"])
    assert.deepEqual(ids(rows), ids(await s.records("users")))
    assert.equal((await s.get(`${path}&limit=5`)).body["count"], 60)
    const names = rows.map((row) => `${row["firstName"]}\u0000${row["lastName"]}`.toLowerCase())
    assert.deepEqual(names, names.toSorted())
    assert.equal((await s.get(`${path}&limit=101`)).status, 400)
  })

  it("need the company of the token", async () => {
    assert.equal((await s.get("/users/search")).status, 422)
    assert.equal((await s.get("/users/search?companyId=other")).status, 403)
  })

  it("have permissions and scopes only in a single read", async () => {
    const [listed] = (await s.get(`/users/search?companyId=${companyId}&limit=1`)).body["users"]
    const one = (await s.get(`/users/${listed.id}`)).body
    assert.isUndefined(listed.permissions)
    assert.isUndefined(listed.scopes)
    assert.isBoolean(listed.deleted)
    assert.isBoolean(one["permissions"].contactsEnabled)
    assert.isArray(one["scopes"])
    assert.isUndefined(one["deleted"])
    assert.equal((await s.get("/users/nobody")).status, 404)
  })
})

describe("the location", () => {
  it("can be read by its id, and is the only one that its token finds", async () => {
    const { location } = (await s.get(`/locations/${locationId}`)).body
    assert.equal(location.companyId, companyId)
    assert.deepEqual((await s.get("/locations/search")).body, { locations: [location] })
  })

  it("has tasks, by default 25, and open and completed ones", async () => {
    const search = async (body: Json) => (await s.post(`/locations/${locationId}/tasks/search`, body)).body["tasks"]
    assert.equal((await search({})).length, 25)
    const rows = await sweep(50, (skip) => search({ limit: 50, skip }))
    const all = await s.records("tasks")
    assert.deepEqual(ids(rows), ids(all))
    const open = all.filter((row) => row["completed"] === false)
    assert.deepEqual(ids(await search({ completed: false, limit: 100 })), ids(open))
    assert.equal((await s.post(`/locations/${locationId}/tasks/search`, { limit: 101 })).status, 400)
    const businessOf = new Map((await s.records("contacts")).map((row) => [row["id"], row["businessId"]]))
    const businessId = all.map((row) => businessOf.get(row["contactId"])).find((id) => id !== undefined)
    const own = all.filter((row) => businessOf.get(row["contactId"]) === businessId)
    assert.deepEqual(ids(await search({ businessId, limit: 100 })), ids(own))
    assert.isEmpty(await search({ businessId: "none" }))
  })
})

describe("orders", () => {
  const path = `/payments/orders?altId=${locationId}&altType=location`

  it("are flat in the list, newest first and by default 10, and nested in a single read", async () => {
    const { body } = await s.get(path)
    assert.deepEqual([body["data"].length, body["totalCount"]], [10, 250])
    const rows = await sweep(100, async (offset) => (await s.get(`${path}&limit=100&offset=${offset}`)).body["data"])
    assert.deepEqual(ids(rows), ids(await s.records("orders")))
    const dates = rows.map((row) => row["createdAt"])
    assert.deepEqual(dates, dates.toSorted().toReversed())
    const [flat] = rows
    const nested = (await s.get(`/payments/orders/${flat!["_id"]}?altId=${locationId}`)).body
    assert.deepEqual(nested["amountSummary"], { subtotal: flat!["subtotal"], discount: flat!["discount"] })
    assert.equal(nested["source"].name, flat!["sourceName"])
    assert.isUndefined(flat!["items"])
    assert.isNotEmpty(nested["items"])
    assert.isUndefined(nested["subtotal"])
  })

  it("can be filtered by day, and an unknown order is 400", async () => {
    const days = (await s.records("orders")).map((row) => row["createdAt"].slice(0, 10)).toSorted()
    const [from, to] = [days[50]!, days[120]!]
    const expected = days.filter((day) => day >= from && day <= to).length
    assert.equal((await s.get(`${path}&startAt=${from}&endAt=${to}`)).body["totalCount"], expected)
    assert.equal((await s.get(`${path}&startAt=01-02-2025`)).status, 422)
    assert.equal((await s.get(`${path}&limit=101`)).status, 400)
    assert.equal((await s.get(`/payments/orders/unknown?altId=${locationId}`)).status, 400)
    assert.equal((await s.get("/payments/orders")).status, 422)
  })
})

describe("form submissions", () => {
  const path = `/forms/submissions?locationId=${locationId}`

  it("are by default those of the last month", async () => {
    const all = await s.records("submissions")
    const { meta, submissions } = (await s.get(path)).body
    assert.isBelow(meta.total, all.length)
    assert.isAbove(meta.total, 0)
    assert.equal(submissions.length, 20)
    assert.deepEqual([meta.currentPage, meta.nextPage, meta.prevPage], [1, 2, null])
  })

  it("of all time are returned in pages, and by form", async () => {
    const all = await s.records("submissions")
    const rows: Array<Json> = []
    for (let page: number | null = 1; page !== null;) {
      const { body }: { body: Json } = await s.get(`${path}&startAt=2000-01-01&endAt=2999-01-01&limit=100&page=${page}`)
      rows.push(...body["submissions"])
      page = body["meta"].nextPage
    }
    assert.deepEqual(ids(rows), ids(all))
    const { forms, total } = (await s.get(`/forms/?locationId=${locationId}`)).body
    assert.equal(forms.length, total)
    const { meta } = (await s.get(`${path}&startAt=2000-01-01&formId=${forms[0].id}`)).body
    assert.equal(meta.total, all.filter((row) => row["formId"] === forms[0].id).length)
    assert.equal((await s.get(`${path}&limit=101`)).status, 400)
    assert.equal((await s.get(`/forms/?locationId=${locationId}&limit=51`)).status, 400)
  })
})
