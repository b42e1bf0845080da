/** Recurring invoices, the shop, affiliates, numbers, files and assistants of document 3: paging, defaults that hide rows, wrappers. */
import { assert, describe, it } from "vitest"
import { type Json, ids, sandbox } from "./client.ts"
import { statuses, walkAll } from "./documents/walk.ts"

const s = await sandbox({ contacts: 60 })
const query = `?locationId=${s.locationId}`
const alt = `?altId=${s.locationId}&altType=location`

describe("the shop and recurring invoices", () => {
  it("are pages by offset, of which some have no record unless they are asked for", async () => {
    await walkAll(s, `/invoices/schedule${alt}`, "schedules", "invoice_schedules", [2, 100])
    await walkAll(s, `/products/reviews${alt}`, "data", "product_reviews", [2, 100])
    await walkAll(s, `/store/shipping-zone${alt}&withShippingRate=true`, "data", "shipping_zones", [1, 100])
    const [schedule] = await s.records("invoice_schedules")
    assert.deepEqual((await s.get(`/invoices/schedule/${schedule!["_id"]}${alt}`)).body, schedule)
    assert.deepEqual((await s.get(`/products/reviews${alt}`)).body["data"], [])
    const [zone] = (await s.get(`/store/shipping-zone${alt}&limit=1&offset=0`)).body["data"]
    assert.isUndefined(zone["shippingRates"])
    const carriers = (await s.get(`/store/shipping-carrier${alt}`)).body["data"]
    const one = (await s.get(`/store/shipping-carrier/${carriers[0]["_id"]}${alt}`)).body
    assert.deepEqual([one["status"], one["data"]], [true, carriers[0]])
    assert.deepEqual((await s.get(`/store/store-setting${alt}`)).body["data"], (await s.records("store_settings"))[0])
    assert.deepEqual(await statuses([s.get(`/invoices/schedule${alt}`), s.get("/store/store-setting")]), [422, 422])
  })
})

describe("affiliates", () => {
  const base = `/affiliate-manager/${s.locationId}`

  it("are hidden while they are active, unless they are asked for", async () => {
    const listed = async (more: string) => ids((await s.get(`${base}/affiliates?limit=100${more}`)).body["affiliates"])
    const [hidden, active] = [await listed(""), await listed("&active=true")]
    assert.sameMembers([...hidden, ...active], ids(await s.records("affiliates")))
    assert.isTrue(hidden.length > 0 && active.length > 0)
    const [affiliate] = await s.records("affiliates")
    assert.deepEqual((await s.get(`${base}/affiliates/${affiliate!["_id"]}`)).body, affiliate)
    await walkAll(s, `${base}/commissions?`, "commissions", "affiliate_commissions", [2, 100], "skip")
    await walkAll(s, `${base}/payouts?`, "payouts", "affiliate_payouts", [2, 100], "skip")
    assert.equal((await s.get(`${base}/commissions?limit=101`)).status, 400)
  })
})

describe("numbers, links, files and campaigns", () => {
  it("are listed in the wrappers and with the defaults of the description", async () => {
    const path = `/phone-system/numbers/location/${s.locationId}?pageSize=1000`
    const numbers = async (more: string) => (await s.get(path + more)).body["data"]["numbers"] as Array<Json>
    assert.deepEqual([(await numbers("")).length, (await numbers("&skipNumberPool=false")).length], [2, 3])
    assert.isNotEmpty((await s.get(`/phone-system/number-pools${query}`)).body["data"])
    const { links } = (await s.get(`/links/${query}`)).body
    assert.deepEqual((await s.get(`/links/id/${links[0]["id"]}${query}`)).body["link"], links[0])
    const files = `/medias/files${alt}&sortBy=createdAt&sortOrder=asc&limit=100`
    const listed = await Promise.all(
      ["file", "folder"].map(async (type) => (await s.get(`${files}&type=${type}`)).body)
    )
    assert.sameMembers(
      listed.flatMap((body) => ids(body["files"])),
      ids(await s.records("media_files"))
    )
    const { campaigns } = (await s.get(`/campaigns/${query}&status=draft`)).body
    assert.isTrue(campaigns.every((one: Json) => one["status"] === "draft"))
    assert.deepEqual(await statuses([s.get(files), s.get("/links/")]), [422, 422])
  })
})

describe("queues and assistants", () => {
  it("have totals as text, cursors of the last record, and children", async () => {
    const body = { locationId: s.locationId, skip: 0, limit: 100 }
    const listed = await s.post("/social-media-posting/category/queues/list", body)
    const [queue] = listed.body["results"]["queues"]
    assert.deepEqual([listed.status, listed.body["results"]["meta"]["count"]], [201, "2"])
    const { items, meta } = (await s.post(`/social-media-posting/category/queues/${queue["_id"]}/items`, body)).body[
      "results"
    ]
    assert.equal(meta["count"], String(items.length))
    const agents = (await s.get("/conversation-ai/agents/search?limit=2")).body["agents"]
    const rest = (await s.get(`/conversation-ai/agents/search?limit=2&startAfter=${agents[1]["id"]}`)).body
    assert.deepEqual([rest["agents"].length, rest["totalCount"]], [1, 3])
    assert.isNotEmpty((await s.get(`/conversation-ai/agents/${agents[0]["id"]}/actions/list`)).body["data"])
    const first = (await s.get(`/knowledge-bases/${query}&limit=2`)).body["data"]
    assert.deepEqual([first["knowledgeBases"].length, first["hasMore"], first["activeCount"]], [2, true, 3])
    const next = (await s.get(`/knowledge-bases/${query}&limit=2&lastKnowledgeBaseId=${first["lastKnowledgeBaseId"]}`))
      .body["data"]
    assert.deepEqual([next["knowledgeBases"].length, next["hasMore"]], [1, false])
    const of = `${query}&knowledgeBaseId=${first["knowledgeBases"][0]["id"]}`
    const { count, faqs } = (await s.get(`/knowledge-bases/faqs${of}&limit=100`)).body
    assert.equal(count, faqs.length)
    assert.isNotEmpty((await s.get(`/knowledge-bases/crawler${of}&page=1&pageLength=100`)).body["urls"])
    assert.equal((await s.get(`/knowledge-bases/faqs${query}`)).status, 422)
  })
})
