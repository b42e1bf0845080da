import { assert, describe, it } from "vitest"
import type { Variants } from "../../sandbox/options.ts"
import { type Client, ids, type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 1200 })
const search = (body: Json, client: Client = s) =>
  client.post("/contacts/search", { locationId: client.locationId, pageLimit: 100, ...body })

/** Reads all pages by the cursor of the last contact. */
const sweep = async (body: Json, client: Client = s): Promise<Array<Json>> => {
  const rows: Array<Json> = []
  for (let searchAfter: unknown; ;) {
    const { body: page } = await search({ ...body, ...(searchAfter !== undefined && { searchAfter }) }, client)
    rows.push(...page["contacts"])
    if (page["contacts"].length < (body["pageLimit"] ?? 100)) return rows
    searchAfter = page["contacts"].at(-1).searchAfter
  }
}

describe("contact search pages", () => {
  it("by searchAfter have every contact once, in descending order of dateAdded", async () => {
    const rows = await sweep({ pageLimit: 70 })
    assert.deepEqual(ids(rows), ids(await s.records("contacts")))
    const added = rows.map((row) => row["dateAdded"])
    assert.deepEqual(added, added.toSorted().toReversed())
  })

  it("do not repeat a contact if page boundaries are within ties", async () => {
    const rows = await sweep({ pageLimit: 2, sort: [{ field: "dateAdded", direction: "asc" }] })
    const ties = rows.filter((row, index) => index > 0 && row["dateAdded"] === rows[index - 1]!["dateAdded"])
    assert.isAbove(ties.length, 20)
    assert.equal(new Set(ids(rows)).size, rows.length)
  })

  it("can be sorted by dateUpdated and by text, each with its own cursor", async () => {
    for (const field of ["dateUpdated", "firstNameLowerCase"]) {
      const rows = await sweep({ sort: [{ field, direction: "asc" }] })
      const keys = rows.map((row) => row["searchAfter"][0])
      assert.equal(new Set(ids(rows)).size, 1200)
      assert.deepEqual(
        keys,
        keys.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
      )
    }
  })

  it("by number reach at most 10,000 contacts, and exclude searchAfter", async () => {
    const [one, two] = [await search({ page: 1 }), await search({ page: 2 })]
    assert.equal(one.body["total"], 1200)
    assert.isFalse(ids(one.body["contacts"]).some((id) => ids(two.body["contacts"]).includes(id)))
    assert.equal((await search({ pageLimit: 500, page: 20 })).status, 200)
    assert.equal((await search({ pageLimit: 500, page: 21 })).status, 422)
    assert.equal((await search({ page: 2, searchAfter: [1, "x"] })).status, 422)
  })

  it("need a pageLimit of at most 500", async () => {
    assert.equal((await search({ pageLimit: 500 })).body["contacts"].length, 500)
    assert.equal((await search({ pageLimit: 501 })).status, 400)
    assert.equal((await search({ pageLimit: undefined })).status, 422)
  })
})

describe("contact search filters", () => {
  const range = (value: Json, field = "dateUpdated") => ({ filters: [{ field, operator: "range", value }] })

  it("by date accept ranges as ISO text or epoch milliseconds, with either bound", async () => {
    const all = await s.records("contacts")
    const middle = all.map((row) => row["dateUpdated"]).toSorted()[600]
    for (const value of [middle, Date.parse(middle)]) {
      const since = await sweep({ ...range({ gte: value }), sort: [{ field: "dateUpdated", direction: "asc" }] })
      assert.deepEqual(ids(since), ids(all.filter((row) => row["dateUpdated"] >= middle)))
      const before = await sweep(range({ lt: value }))
      assert.equal(before.length + since.length, 1200)
    }
  })

  it("that are invalid return 422 with error, field and requestId", async () => {
    const wrong = [
      { field: "tags.value", operator: "eq", value: "vip" },
      { field: "dateUpdated", operator: "gte", value: "2025-01-01" },
      { field: "dateUpdated", operator: "range", value: { gte: "yesterday" } },
      { field: "email", operator: "like", value: "x" }
    ]
    for (const filter of wrong) {
      const { body, status } = await search({ filters: [filter] })
      assert.equal(status, 422)
      assert.deepEqual(Object.keys(body).sort(), ["error", "field", "requestId"])
      assert.equal(body["field"], filter.field)
    }
  })

  it("compare fields or test their absence, and are combined by AND or OR", async () => {
    const all = await s.records("contacts")
    const vip = { field: "tags", operator: "contains", value: "vip" }
    const german = { field: "country", operator: "eq", value: "DE" }
    const phoneless = { field: "phone", operator: "not_exists" }
    const isVip = (row: Json) => row["tags"].some((tag: string) => tag.includes("vip"))
    const isGerman = (row: Json) => row["country"] === "DE"
    assert.deepEqual(ids(await sweep({ filters: [vip] })), ids(all.filter(isVip)))
    assert.deepEqual(
      ids(await sweep({ filters: [vip, german] })),
      ids(all.filter((row) => isVip(row) && isGerman(row)))
    )
    const either = { group: "OR", filters: [vip, german] }
    assert.deepEqual(ids(await sweep({ filters: [either] })), ids(all.filter((row) => isVip(row) || isGerman(row))))
    assert.deepEqual(ids(await sweep({ filters: [phoneless] })), ids(all.filter((row) => row["phone"] === undefined)))
  })
})

describe("contact search variants", () => {
  it("contactPaging: without searchAfter, or without any paging", async () => {
    const paged = await sandbox({ variants: { contactPaging: "page" } })
    const { body } = await search({ pageLimit: 10 }, paged)
    assert.isUndefined(body["contacts"][0].searchAfter)
    assert.equal((await search({ searchAfter: [1, "x"] }, paged)).status, 422)
    const stuck = await sandbox({ variants: { contactPaging: "none" } })
    const [one, two] = [await search({ pageLimit: 10 }, stuck), await search({ pageLimit: 10, page: 2 }, stuck)]
    assert.deepEqual(one.body["contacts"], two.body["contacts"])
  })

  it("contactDateFilter: epoch numbers only, or no date at all", async () => {
    const filter = (gte: unknown) => ({ filters: [{ field: "dateUpdated", operator: "range", value: { gte } }] })
    const epoch = await sandbox({ variants: { contactDateFilter: "epoch" } })
    assert.equal((await search(filter("2025-01-01"), epoch)).status, 422)
    assert.equal((await search(filter(1_735_689_600_000), epoch)).status, 200)
    const refused = await sandbox({ variants: { contactDateFilter: "refused" } })
    assert.equal((await search(filter(1_735_689_600_000), refused)).status, 422)
  })

  it("contactSort: the service's own order instead of the requested one", async () => {
    const asked = { pageLimit: 100, sort: [{ field: "dateUpdated", direction: "desc" }] }
    const listOf = async (variants: Variants) =>
      (await search(asked, await sandbox({ variants }))).body["contacts"] as Array<Record<string, string>>
    const decreases = (keys: ReadonlyArray<string>) => assert.deepEqual(keys, keys.toSorted().toReversed())
    decreases((await listOf({})).map((one) => one["dateUpdated"]!))
    decreases((await listOf({ contactSort: "created" })).map((one) => one["dateAdded"]!))
    decreases((await listOf({ contactSort: "email" })).map((one) => (one["email"] ?? "").toLowerCase()))
  })

  it("contactShape: the reduced shape of the live search", async () => {
    const reduced = await sandbox({ variants: { contactShape: "reduced" } })
    const [contact] = (await search({}, reduced)).body["contacts"]
    assert.isUndefined(contact.dndSettings)
    assert.equal(contact.firstName, contact.firstNameRaw.toLowerCase())
  })
})
