import { assert, describe, it } from "vitest"
import { type Client, ids, type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 800 })
const { locationId } = s
const get = (query: string) => s.get(`/opportunities/search?locationId=${locationId}&${query}`)
const additionalDetails = { notes: false, tasks: false, calendarEvents: false, unReadConversations: false }
const post = (body: Json, client: Client = s) =>
  client.post("/opportunities/search", {
    locationId: client.locationId,
    query: "",
    limit: 50,
    page: 0,
    searchAfter: [],
    additionalDetails,
    ...body
  })

it("lost deals name a reason that exists or was removed, and a few one that nobody knows", async () => {
  const known = new Set(ids(await s.records("lost_reasons")))
  const named = (await s.records("opportunities")).flatMap((deal: Json) => deal["lostReasonId"] ?? [])
  const unknown = named.filter((id) => !known.has(id))
  assert.isAbove(named.length, 30)
  assert.isNotEmpty(unknown)
  assert.isBelow(unknown.length, named.length / 4)
})

describe("GET /opportunities/search", () => {
  it("returns each opportunity once by the pair of cursors, newest first, and has a cursor on the last page", async () => {
    const rows: Array<Json> = []
    let cursor = ""
    for (let page = await get("limit=90"); ; page = await get(`limit=90${cursor}`)) {
      const { meta, opportunities } = page.body
      rows.push(...opportunities)
      assert.equal(meta.total, 320)
      if (opportunities.length === 0) {
        assert.include(cursor, `startAfterId=${meta.startAfterId}`)
        break
      }
      assert.isString(meta.startAfterId)
      assert.equal(meta.nextPage === null, rows.length === 320)
      cursor = `&startAfter=${meta.startAfter}&startAfterId=${meta.startAfterId}`
    }
    assert.deepEqual(ids(rows), ids(await s.records("opportunities")))
    const created = rows.map((row) => row["createdAt"])
    assert.deepEqual(created, created.toSorted().toReversed())
  })

  it("can be read completely by the pair of cursors in every order, with ties", async () => {
    const all = await s.records("opportunities")
    const names = all.map((row) => row["name"].toLowerCase())
    assert.isBelow(new Set(names).size, names.length)
    const keys = { added: "createdAt", updated: "updatedAt", name: "name" }
    for (const [key, field] of Object.entries(keys)) {
      for (const direction of ["asc", "desc"]) {
        const rows: Array<Json> = []
        for (let cursor = ""; ;) {
          const { meta, opportunities } = (await get(`limit=40&order=${key}_${direction}${cursor}`)).body
          rows.push(...opportunities)
          cursor = `&startAfter=${meta.startAfter}&startAfterId=${meta.startAfterId}`
          if (meta.nextPage === null) break
          assert.isBelow(rows.length, all.length, `${key}_${direction}`)
        }
        assert.deepEqual(ids(rows), ids(all), `${key}_${direction}`)
        const values = rows.map((row) => row[field].toLowerCase())
        assert.deepEqual(values, direction === "asc" ? values.toSorted() : values.toSorted().toReversed())
      }
    }
    assert.equal((await get("order=name_asc&startAfter=1&startAfterId=none")).status, 422)
  })

  it("returns the first page if a cursor of the pair is missing", async () => {
    const { meta, opportunities } = (await get("limit=10")).body
    for (const half of [`startAfterId=${meta.startAfterId}`, `startAfter=${meta.startAfter}`]) {
      assert.deepEqual((await get(`limit=10&${half}`)).body["opportunities"], opportunities)
    }
  })

  it("has numbered pages, and refuses and names a limit above 100", async () => {
    const { body } = await get("limit=100&page=4")
    assert.equal(body["opportunities"].length, 20)
    assert.deepEqual([body["meta"].currentPage, body["meta"].nextPage, body["meta"].prevPage], [4, null, 3])
    const large = await get("limit=101")
    assert.equal(large.status, 400)
    assert.match(large.body["message"], /limit/)
  })

  it("includes notes, tasks and events on request only, and never in a single read", async () => {
    const full = (await s.records("opportunities", "?form=list")).find((row) => row["notes"].length > 0)!
    const plain = (await get(`id=${full["id"]}`)).body["opportunities"][0]
    assert.isUndefined(plain.notes)
    const requested = (await get(`id=${full["id"]}&getNotes=true&getTasks=true&getCalendarEvents=true`)).body
    assert.deepEqual(requested["opportunities"][0], full)
    const { opportunity } = (await s.get(`/opportunities/${full["id"]}`)).body
    for (const name of ["notes", "tasks", "calendarEvents", "effectiveProbability"])
      assert.isUndefined(opportunity[name])
  })

  it("filters by status and day, and ignores unknown filters", async () => {
    const all = await s.records("opportunities")
    const { body } = await get("status=won&limit=1")
    assert.equal(body["meta"].total, all.filter((row) => row["status"] === "won").length)
    assert.equal((await get("status=all&limit=1")).body["meta"].total, 320)
    assert.equal((await get("status=maybe")).status, 422)
    const day = all[100]!["createdAt"].slice(0, 10) as string
    const american = `${day.slice(5)}-${day.slice(0, 4)}`
    const onDay = all.filter((row) => row["createdAt"].startsWith(day)).length
    assert.equal((await get(`date=${american}&endDate=${american}`)).body["meta"].total, onDay)
    assert.equal((await get(`date=${day}`)).status, 422)
    assert.equal((await get("dateUpdated=2020-01-01")).body["meta"].total, 320)
  })

  it("filters by the current country of the contact", async () => {
    const countryOf = new Map((await s.records("contacts")).map((row) => [row["id"], row["country"]]))
    const all = await s.records("opportunities")
    const german = all.filter((row) => countryOf.get(row["contactId"]) === "DE")
    assert.isTrue(german.length > 0 && german.length < all.length)
    assert.deepEqual(ids((await get("country=DE&limit=100")).body["opportunities"]), ids(german))
    const { contactId } = german[0]!
    const moved = german.filter((row) => row["contactId"] === contactId).length
    await s.send("PUT", `/contacts/${contactId}`, { country: "JP" })
    assert.equal((await get("country=DE")).body["meta"].total, german.length - moved)
    assert.equal((await get("country=JP")).body["meta"].total, moved)
  })
})

describe("POST /opportunities/search", () => {
  it("needs every documented field", async () => {
    for (const name of ["query", "limit", "page", "searchAfter", "additionalDetails"]) {
      assert.equal((await post({ [name]: undefined })).status, 422, name)
    }
    assert.equal((await post({ limit: 101 })).status, 400)
    assert.equal((await post({ query: "x".repeat(76) })).status, 422)
  })

  it("returns changed opportunities in order of change, in pages, with totals for each stage", async () => {
    const all = await s.records("opportunities")
    const since = all.map((row) => row["updatedAt"]).toSorted()[160]!
    const delta = {
      filters: [{ field: "date_updated", operator: "range", value: { gte: since } }],
      sort: [{ field: "date_updated", direction: "asc" }]
    }
    const rows: Array<Json> = []
    for (let searchAfter: unknown = []; ; searchAfter = rows.at(-1)!["searchAfter"]) {
      const { body } = await post({ ...delta, searchAfter })
      if (body["opportunities"].length === 0) break
      rows.push(...body["opportunities"])
      const counted = body["stageAggregations"].reduce((sum: number, stage: Json) => sum + stage["count"], 0)
      assert.equal(counted, body["total"])
    }
    assert.deepEqual(ids(rows), ids(all.filter((row) => row["updatedAt"] >= since)))
    const updated = rows.map((row) => row["updatedAt"])
    assert.deepEqual(updated, updated.toSorted())
  })

  it("counts the unread conversations of the contact on request", async () => {
    const unread = (await s.records("conversations")).filter((row) => row["unreadCount"] > 0)
    const requested = { ...additionalDetails, unReadConversations: true }
    const { opportunities } = (await post({ limit: 100, additionalDetails: requested })).body
    for (const { contactId, unReadConversations } of opportunities) {
      assert.equal(unReadConversations, unread.filter((row) => row["contactId"] === contactId).length)
    }
    assert.isTrue(opportunities.some((row: Json) => row["unReadConversations"] > 0))
  })

  it("ignores or refuses filters in the variant opportunityFilters", async () => {
    const filters = [{ field: "date_updated", operator: "range", value: { gte: "2999-01-01" } }]
    assert.equal((await post({ filters })).body["total"], 0)
    const ignoring = await sandbox({ variants: { opportunityFilters: "ignored" } })
    assert.equal((await post({ filters }, ignoring)).body["total"], 120)
    const refusing = await sandbox({ variants: { opportunityFilters: "refused" } })
    assert.equal((await post({ filters }, refusing)).status, 422)
  })
})

describe("an opportunity", () => {
  it("can be created, updated and deleted", async () => {
    const { pipelines } = (await s.get(`/opportunities/pipelines?locationId=${locationId}`)).body
    const [contact] = await s.records("contacts")
    const fields = { locationId, pipelineId: pipelines[0].id, name: "Deck", contactId: contact!["id"], status: "open" }
    assert.equal((await s.post("/opportunities/", { ...fields, name: undefined })).status, 422)
    assert.equal((await s.post("/opportunities/", { ...fields, contactId: "nobody" })).status, 422)
    const { body, status } = await s.post("/opportunities/", fields)
    assert.equal(status, 201)
    assert.deepEqual(body["opportunity"].notes, [])
    const { id } = body["opportunity"]
    const won = await s.send("PUT", `/opportunities/${id}`, { status: "won" })
    assert.equal(won.body["opportunity"].status, "won")
    assert.equal(won.body["opportunity"].lastStatusChangeAt, won.body["opportunity"].updatedAt)
    const { body: made } = await s.post("/contacts/", { locationId, firstName: "Uma", tags: ["new"] })
    const given = await s.send("PUT", `/opportunities/${id}`, { contactId: made["contact"].id })
    assert.deepEqual(given.body["opportunity"].contact, { id: made["contact"].id, name: "Uma", tags: ["new"] })
    assert.equal((await get(`contactId=${made["contact"].id}`)).body["meta"].total, 1)
    assert.equal((await s.send("DELETE", `/opportunities/${id}`)).status, 200)
    assert.equal((await s.get(`/opportunities/${id}`)).status, 404)
  })
})
