import { assert, describe, it } from "vitest"
import { sandbox } from "./client.ts"

const s = await sandbox()
const strict401 = await sandbox({ variants: { missingScopeStatus: 401, missingLocationStatus: 403 } })
const search = { locationId: s.locationId, pageLimit: 1 }

describe("the checks of a request are in the documented order", () => {
  it("a missing, malformed or unsupported version is refused before the token is checked", async () => {
    const missing = await s.get("/contacts/x", { Version: "", Authorization: "" })
    assert.deepEqual([missing.status, missing.body["message"]], [401, "version header was not found."])
    const malformed = await s.get("/contacts/x", { Version: "V3", Authorization: "" })
    assert.deepEqual([malformed.status, malformed.body["message"]], [401, "version header is invalid"])
    const unsupported = await s.get("/contacts/x", { Version: "v2", Authorization: "" })
    assert.equal(unsupported.status, 400)
    assert.match(unsupported.body["error"], /^Unsupported API version/)
  })

  it("a date as version is accepted", async () => {
    assert.equal((await s.post("/contacts/search", search, { Version: "2021-07-28" })).status, 200)
  })

  it("a missing and an invalid token are refused with the documented messages before the body is read", async () => {
    const missing = await s.post("/contacts/search", "{", { Authorization: "" })
    assert.deepEqual(
      [missing.status, missing.body["message"]],
      [401, "No Authorization header found for authentication!"]
    )
    for (const header of ["Bearer nonsense", s.token, "Basic abc"]) {
      const bad = await s.post("/contacts/search", "{", { Authorization: header })
      assert.deepEqual([bad.status, bad.body["message"]], [401, "Invalid JWT"])
    }
  })

  it("a missing scope is refused before the body is read, with 403, or with 401 as the live service does", async () => {
    for (const [client, status] of [
      [s, 403],
      [strict401, 401]
    ] as const) {
      await client.post("/__sandbox/token", { removeScope: "contacts.readonly" })
      const refused = await client.post("/contacts/search", "{")
      assert.deepEqual(
        [refused.status, refused.body["message"]],
        [status, "The token is not authorized for this scope."]
      )
      assert.equal((await client.get(`/locations/${client.locationId}`)).status, 200)
      await client.post("/__sandbox/token", { addScope: "contacts.readonly" })
    }
  })

  it("another location is refused before the parameters are checked, wherever it is sent", async () => {
    const refused = [
      await s.post("/contacts/search", { locationId: "other", pageLimit: 9999 }),
      await s.get("/opportunities/search?locationId=other&limit=9999"),
      await s.get("/payments/orders?altId=other&limit=9999"),
      await s.get("/locations/other")
    ]
    for (const { body, status } of refused) {
      assert.deepEqual([status, body["message"]], [403, "The token does not have access to this location"])
    }
  })

  it("another location is also refused by operations that need none", async () => {
    const [contact] = await s.records("contacts")
    const path = `/contacts/${contact!["id"]}`
    assert.equal((await s.get(`${path}?locationId=${s.locationId}`)).status, 200)
    assert.equal((await s.get(`${path}?locationId=other`)).status, 403)
    assert.equal((await s.post(`${path}/notes`, { body: "x", locationId: "other" })).status, 403)
  })

  it("a missing location is 422, or 403 in the variant of the live service", async () => {
    assert.equal((await s.get("/opportunities/search")).status, 422)
    assert.equal((await strict401.get("/opportunities/search")).status, 403)
  })

  it("a wrong content type is 415, invalid JSON and wrong types are 400, and a limit that is too large is 400 and named", async () => {
    assert.equal((await s.post("/contacts/search", "a=b", { "Content-Type": "text/plain" })).status, 415)
    assert.equal((await s.post("/contacts/search", "{")).status, 400)
    assert.equal((await s.post("/contacts/search", "[]")).status, 400)
    assert.equal((await s.post("/contacts/search", { ...search, pageLimit: "20" })).status, 400)
    const large = await s.post("/contacts/search", { ...search, pageLimit: 501 })
    assert.equal(large.status, 400)
    assert.match(large.body["message"], /pageLimit/)
    assert.equal((await s.post("/contacts/search", { ...search, pageLimit: 0 })).status, 422)
  })

  it("the case and trailing slashes of a path matter", async () => {
    const misspelt = ["/Contacts/search", "/contacts/search/", "/forms", "/users/search/", "/nowhere"]
    for (const path of misspelt) assert.equal((await s.post(path, search)).status, 404, path)
    assert.equal((await s.get(`/forms/?locationId=${s.locationId}`)).status, 200)
  })

  it("unknown query parameters and body fields are ignored", async () => {
    assert.equal((await s.post("/contacts/search", { ...search, colour: "blue" })).status, 200)
    assert.equal((await s.get(`/opportunities/search?locationId=${s.locationId}&colour=blue`)).status, 200)
  })
})

describe("an error response", () => {
  it("has the rate limit headers, a request id and the date of the sandbox's clock", async () => {
    const replies = [await s.get("/nowhere"), await s.get("/contacts/x"), await s.get("/contacts/x", { Version: "" })]
    for (const { headers } of replies) {
      for (const name of ["Max", "Remaining", "Interval-Milliseconds", "Limit-Daily", "Daily-Remaining"]) {
        assert.match(headers.get(`x-ratelimit-${name}`) ?? "", /^\d+$/, name)
      }
      assert.ok(headers.get("x-account-platform-requestid"))
    }
    await s.post("/__sandbox/clock", { advanceMs: 86_400_000 })
    const { headers } = await s.get("/nowhere")
    assert.ok(Date.parse(headers.get("date") ?? "") > Date.now() + 80_000_000)
  })

  it("has its request id in the body", async () => {
    const { body, headers, status } = await s.get("/contacts/unknown")
    assert.equal(status, 404)
    assert.deepEqual(Object.keys(body).sort(), ["error", "message", "statusCode", "traceId"])
    assert.equal(body["traceId"], headers.get("x-account-platform-requestid"))
  })
})
