/** The lists of document 3: what is required, how they are paged, and what they hide. */
import { assert, describe, it } from "vitest"
import { type Json, ids, sandbox } from "./client.ts"
import { statuses, walkAll } from "./documents/walk.ts"

const s = await sandbox({ contacts: 60 })
const query = `?locationId=${s.locationId}`

describe("companies and lost reasons", () => {
  it("are listed by skip, without a total; removed reasons only on demand", async () => {
    await walkAll(s, `/businesses/${query}`, "businesses", "businesses", [3, 100], "skip")
    const [business] = await s.records("businesses")
    assert.deepEqual((await s.get(`/businesses/${business!["id"]}`)).body["business"], business)
    const reasons = async (more: string) => (await s.get(`/opportunities/lost-reason${query}${more}`)).body
    const [live, removed] = [await reasons(""), await reasons("&deleted=true&getCount=true")]
    assert.isUndefined(live["total"])
    assert.deepEqual([live["lostReasons"].length, removed["lostReasons"].length, removed["total"]], [4, 2, 2])
    assert.isUndefined(live["lostReasons"][0]["deleted"])
  })
})

describe("objects", () => {
  it("are listed at once, and read by key or id", async () => {
    const { objects } = (await s.get(`/objects/${query}`)).body as { objects: Array<Json> }
    assert.deepEqual(ids(objects), ids(await s.records("objects")))
    const own = objects.find(({ standard }) => standard === false)!
    const { body } = await s.get(`/objects/${own["key"]}${query}&fetchProperties=true`)
    assert.deepEqual([body["object"], body["cache"]], [own, true])
    assert.isNotEmpty(body["fields"])
    assert.deepEqual((await s.get(`/objects/${own["id"]}${query}`)).body["object"], own)
    assert.deepEqual(await statuses([s.get(`/objects/project${query}`), s.get("/objects/")]), [404, 422])
  })

  it("have records in pages by the cursor of the last record, or by number", async () => {
    const path = "/objects/custom_objects.project/records/search"
    const body = { locationId: s.locationId, page: 1, pageLimit: 5, query: "", searchAfter: [] as Array<unknown> }
    const found: Array<Json> = []
    for (;;) {
      const page = (await s.post(path, body)).body["records"] as Array<Json>
      found.push(...page)
      if (page.length < 5) break
      body.searchAfter = page.at(-1)!["searchAfter"]
    }
    const all = (await s.records("object_records", "?form=list")).filter(
      (row) => row["objectKey"] === "custom_objects.project"
    )
    assert.deepEqual(ids(found), ids(all))
    const second = (await s.post(path, { ...body, searchAfter: [], page: 2 })).body["records"]
    assert.deepEqual(second[0], found[5])
    assert.isTrue(all.some((row) => Object.keys(row["properties"]).length === 0))
    const one = (await s.get(`/objects/custom_objects.project/records/${found[0]!["id"]}`)).body["record"]
    assert.hasAllKeys(
      one,
      "id locationId objectId objectKey owner followers properties dateAdded dateUpdated".split(" ")
    )
    const refused = [
      s.post(path, { ...body, pageLimit: undefined }),
      s.post(path, { ...body, pageLimit: 101 }),
      s.post("/objects/contact/records/search", body),
      s.post("/objects/custom_objects.gone/records/search", body)
    ]
    assert.deepEqual(await statuses(refused), [422, 400, 422, 404])
  })

  it("have associations, and relations on both of their records", async () => {
    await walkAll(s, `/associations/${query}`, "associations", "associations", [1, 100], "skip")
    const [association] = await s.records("associations")
    assert.deepEqual((await s.get(`/associations/${association!["id"]}`)).body, association)
    const [relation] = await s.records("record_relations")
    for (const side of ["firstRecordId", "secondRecordId"]) {
      const path = `/associations/relations/${relation![side]}${query}`
      const { relations } = (await s.get(`${path}&skip=0&limit=100`)).body as { relations: Array<Json> }
      assert.includeMembers(ids(relations), [relation!["id"]])
      assert.equal((await s.get(path)).status, 422)
    }
    assert.equal((await s.get(`/associations/${query}`)).status, 422)
  })
})

describe("campaigns, documents and calls", () => {
  it("have pages of 20 at most, single reads with more, and statistics by source", async () => {
    const path = `/emails/locations/${s.locationId}/campaigns`
    for (const [kind, collection] of [
      ["workflows", "workflow_campaigns"],
      ["bulk-actions", "bulk_email_campaigns"]
    ] as const) {
      await walkAll(s, `${path}/${kind}?`, "campaigns", collection, [2, 20])
      const [campaign] = await s.records(collection)
      const { traceId, ...one } = (await s.get(`${path}/${kind}/${campaign!["id"]}`)).body
      assert.isString(traceId)
      assert.deepEqual(one, campaign)
      assert.equal((await s.get(`${path}/${kind}?limit=21`)).status, 400)
    }
    const [numbers] = await s.records("email_statistics")
    const { body } = await s.get(`${path}/stats/${numbers!["source"]}/${numbers!["sourceId"]}`)
    assert.deepEqual(body["stats"], numbers!["stats"])
    assert.equal((await s.get(`${path}/stats/bulk-actions/unknown`)).status, 404)
  })

  it("of documents are pages by skip with a total, by status", async () => {
    await walkAll(s, `/proposals/document${query}`, "documents", "documents", [3, 100], "skip")
    await walkAll(s, `/proposals/templates${query}`, "data", "document_templates", [3, 100], "skip")
    const { documents } = (await s.get(`/proposals/document${query}&status=completed&limit=100`)).body
    assert.isTrue(documents.length > 0 && documents.every((one: Json) => one["status"] === "completed"))
  })

  it("of assistants are pages by number, in both orders", async () => {
    const calls = `/voice-ai/dashboard/call-logs${query}&sortBy=createdAt`
    const times = async (sort: string) =>
      ((await s.get(`${calls}&sort=${sort}&pageSize=50`)).body["callLogs"] as Array<Json>).map(
        (one) => one["createdAt"]
      )
    const [up, down] = [await times("ascend"), await times("descend")]
    assert.deepEqual(up, down.toReversed())
    const second = (await s.get(`${calls}&sort=ascend&pageSize=3&page=2`)).body
    assert.deepEqual([second["callLogs"][0]["createdAt"], second["total"], second["page"]], [up[3], up.length, 2])
    const [call] = await s.records("voice_calls")
    assert.deepEqual((await s.get(`/voice-ai/dashboard/call-logs/${call!["id"]}${query}`)).body, call)
    const { agents } = (await s.get(`/voice-ai/agents${query}&pageSize=50`)).body
    assert.deepEqual(ids(agents), ids(await s.records("voice_agents")))
    assert.deepEqual((await s.get(`/voice-ai/agents/${agents[0]["id"]}${query}`)).body, agents[0])
    assert.equal((await s.get(`/voice-ai/agents${query}&pageSize=51`)).status, 400)
  })
})
