import { assert, describe, it } from "vitest"
import { sandbox } from "./client.ts"

const s = await sandbox({ contacts: 100 })

describe("the handler", () => {
  it("treats names of prototypes as data, and refuses a body that is nested too deeply", async () => {
    const { locationId } = s
    const sent = `{"locationId":"${locationId}","__proto__":{"firstName":"Evil"},"constructor":{"prototype":{"x":1}}}`
    const made = await s.post("/contacts/", sent)
    assert.equal(made.status, 201)
    assert.isUndefined(made.body["contact"].firstName)
    assert.isUndefined(({} as Record<string, unknown>)["x"])
    const deep = `${"[".repeat(400_000)}${"]".repeat(400_000)}`
    assert.equal((await s.post("/contacts/", `{"locationId":"${locationId}","tags":${deep}}`)).status, 400)
    const nested = `${'{"a":'.repeat(300)}1${"}".repeat(300)}`
    assert.equal((await s.post("/contacts/", `{"locationId":"${locationId}","a":${nested}}`)).status, 400)
    assert.equal((await s.get("/__sandbox/records/constructor")).status, 404)
    assert.equal((await s.get("/__sandbox/records/__proto__")).status, 404)
  })

  it("does not fail for hostile values in any parameter", async () => {
    const values: Array<unknown> = [
      null,
      true,
      -1,
      1.5,
      1e300,
      "",
      "\u0000",
      [],
      [null],
      {},
      { gte: {} },
      "x".repeat(999)
    ]
    const fields = ["pageLimit", "page", "searchAfter", "filters", "sort", "query", "locationId"]
    for (const field of fields) {
      for (const value of values) {
        const body = { locationId: s.locationId, pageLimit: 5, [field]: value }
        assert.isBelow((await s.post("/contacts/search", body)).status, 500, `${field} ${JSON.stringify(value)}`)
        const filters = [{ field: "dateAdded", operator: "range", value }]
        assert.isBelow((await s.post("/contacts/search", { ...body, filters })).status, 500)
      }
    }
    const paths = ["opportunities/search", "conversations/search", "conversations/messages/export", "forms/submissions"]
    for (const path of paths) {
      for (const name of ["limit", "page", "startAfter", "startAfterDate", "cursor", "startDate", "startAt", "date"]) {
        for (const value of ["-1", "1e9", "x", "%00", "99999999999999999999"]) {
          const { status } = await s.get(`/${path}?locationId=${s.locationId}&${name}=${value}`)
          assert.isBelow(status, 500, `${path} ${name}=${value}`)
        }
      }
    }
  })

  it("responds to a preflight with the documented headers, and allows every origin", async () => {
    const response = await s.fetch("/contacts/search", { method: "OPTIONS" })
    assert.equal(response.status, 204)
    assert.equal(
      response.headers.get("access-control-allow-headers"),
      "Authorization, Version, Content-Type, Accept, locationId, MCP-Protocol-Version, Mcp-Session-Id, Last-Event-ID"
    )
    for (const path of ["/contacts/search", "/nowhere"]) {
      assert.equal((await s.fetch(path)).headers.get("access-control-allow-origin"), "*")
    }
    assert.isNull(response.headers.get("access-control-allow-credentials"))
  })

  it("can delay every request", async () => {
    const slow = await sandbox({ contacts: 1, latencyMs: [20, 30] })
    const begun = slow.clock.now()
    await slow.get(`/locations/${slow.locationId}`)
    assert.isAtLeast(slow.clock.now() - begun, 20)
  })
})
