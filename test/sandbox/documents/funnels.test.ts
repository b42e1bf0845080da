import { assert, describe, it } from "vitest"
import { type Json, ids, sandbox } from "../client.ts"
import { statuses, walkAll } from "./walk.ts"

const s = await sandbox({ contacts: 300 })
const locationId = s.locationId
const query = `?locationId=${locationId}`

describe("funnels", () => {
  it("are listed completely with a count, and by name and type", async () => {
    const rows = await walkAll(s, `/funnels/funnel/list${query}`, "funnels", "funnels", [undefined, 100])
    const { body } = await s.get(`/funnels/funnel/list${query}&type=website`)
    assert.equal(body["count"], rows.filter((row) => row["type"] === "website").length)
    assert.isString(body["traceId"])
    const named = (await s.get(`/funnels/funnel/list${query}&name=ANGEBOT&limit=100`)).body
    assert.equal(named["count"], rows.filter((row) => row["name"].includes("Angebot")).length)
    assert.equal((await s.get("/funnels/funnel/list")).status, 422)
  })

  it("have pages in a top-level array, and the count of pages", async () => {
    const all: Array<Json> = []
    for (const funnel of await s.records("funnels")) {
      const { body } = await s.get(`/funnels/page${query}&funnelId=${funnel["id"]}&limit=100&offset=0`)
      assert.isArray(body)
      const rows = body as unknown as Array<Json>
      const { count } = (await s.get(`/funnels/page/count${query}&funnelId=${funnel["id"]}`)).body
      assert.equal(count, rows.length)
      all.push(...rows)
    }
    assert.deepEqual(ids(all), ids(await s.records("funnel_pages")))
    const { funnelId, name } = all[0]!
    const path = `/funnels/page${query}&funnelId=${funnelId}&limit=1`
    const [first, second] = [(await s.get(`${path}&offset=0`)).body, (await s.get(`${path}&offset=1`)).body]
    assert.isTrue(first["length"] === 1 && first[0]._id !== second[0]?._id)
    const named = (await s.get(`${path}&offset=0&name=${encodeURIComponent(name)}`)).body
    assert.equal(named[0].name, name)
    const refused = [path, `/funnels/page${query}&limit=1&offset=0`, `/funnels/page/count${query}`]
    assert.deepEqual(await statuses(refused.map((one) => s.get(one))), [422, 422, 422])
  })
})

describe("redirects", () => {
  const path = "/funnels/lookup/redirect"

  it("are listed completely, as an array or, in the variant redirectShape, within an object", async () => {
    const rows = await walkAll(s, `${path}/list${query}`, "data", "redirects", [10, 100])
    const found = (
      await s.get(`${path}/list${query}&limit=10&offset=0&search=${rows[0]!["pathLowercase"].slice(1, 6)}`)
    ).body
    assert.isNotEmpty(found["data"])
    assert.equal((await s.get(`${path}/list${query}`)).status, 422)
    const other = await sandbox({ contacts: 10, variants: { redirectShape: "object" } })
    const { data } = (await other.get(`${path}/list?locationId=${other.locationId}&limit=5&offset=0`)).body
    assert.deepEqual([data.data.length, data.count], [5, 24])
  })

  it("can be deleted", async () => {
    const [{ id }] = (await s.records("redirects")) as [Json]
    assert.equal((await s.send("DELETE", `${path}/${id}`)).status, 422)
    assert.equal((await s.send("DELETE", `${path}/${id}${query}`)).status, 204)
    assert.equal((await s.send("DELETE", `${path}/${id}${query}`)).status, 404)
    const rest = (await s.get(`${path}/list${query}&limit=100&offset=0`)).body["data"]
    assert.notInclude(ids(rest), id)
  })
})
