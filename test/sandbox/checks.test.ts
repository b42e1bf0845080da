import { assert, describe, it } from "vitest"
import { sandbox } from "./client.ts"

const s = await sandbox()
const strict401 = await sandbox({ variants: { missingScopeStatus: 401, missingLocationStatus: 403 } })
const search = { locationId: s.locationId, pageLimit: 1 }

describe("checks come in the documented order", () => {
  it("a missing, malformed or unsupported version is refused before the token is looked at", async () => {
    const missing = await s.get("/contacts/x", { Version: "", Authorization: "" })
    assert.deepEqual([missing.status, missing.body["message"]], [401, "version header was not found."])
    const malformed = await s.get("/contacts/x", { Version: "V3", Authorization: "" })
    assert.deepEqual([malformed.status, malformed.body["message"]], [401, "version header is invalid"])
    const unsupported = await s.get("/contacts/x", { Version: "v2", Authorization: "" })
    assert.equal(unsupported.status, 400)
    assert.match(unsupported.body["error"], /^Unsupported API version/)
  })

  it("date-based versions are still accepted", async () => {
    assert.equal((await s.post("/contacts/search", search, { Version: "2021-07-28" })).status, 200)
  })

  it("the words on a missing and on a bad token are those of the documents", async () => {
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

  it("a missing scope is refused before the body is read, with 403 or as seen live with 401", async () => {
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

  it("another location is refused before the parameters, wherever the location is sent", async () => {
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

  it("another location is refused where none is asked for, too", async () => {
    const [contact] = await s.records("contacts")
    const path = `/contacts/${contact!["id"]}`
    assert.equal((await s.get(`${path}?locationId=${s.locationId}`)).status, 200)
    assert.equal((await s.get(`${path}?locationId=other`)).status, 403)
    assert.equal((await s.post(`${path}/notes`, { body: "x", locationId: "other" })).status, 403)
  })

  it("a missing location is not valid, or forbidden where the live service is imitated", async () => {
    assert.equal((await s.get("/opportunities/search")).status, 422)
    assert.equal((await strict401.get("/opportunities/search")).status, 403)
  })

  it("a wrong content type is 415, broken JSON 400, a wrong type 400, a limit that is too large 400 by name", async () => {
    assert.equal((await s.post("/contacts/search", "a=b", { "Content-Type": "text/plain" })).status, 415)
    assert.equal((await s.post("/contacts/search", "{")).status, 400)
    assert.equal((await s.post("/contacts/search", "[]")).status, 400)
    assert.equal((await s.post("/contacts/search", { ...search, pageLimit: "20" })).status, 400)
    const large = await s.post("/contacts/search", { ...search, pageLimit: 501 })
    assert.equal(large.status, 400)
    assert.match(large.body["message"], /pageLimit/)
    assert.equal((await s.post("/contacts/search", { ...search, pageLimit: 0 })).status, 422)
  })

  it("case and trailing slashes of a path count", async () => {
    const misspelt = ["/Contacts/search", "/contacts/search/", "/forms", "/users/search/", "/nowhere"]
    for (const path of misspelt) assert.equal((await s.post(path, search)).status, 404, path)
    assert.equal((await s.get(`/forms/?locationId=${s.locationId}`)).status, 200)
  })

  it("unknown query parameters and body fields are ignored", async () => {
    assert.equal((await s.post("/contacts/search", { ...search, colour: "blue" })).status, 200)
    assert.equal((await s.get(`/opportunities/search?locationId=${s.locationId}&colour=blue`)).status, 200)
  })
})

describe("every response", () => {
  it("carries the rate headers, a request id and the date of the sandbox clock, errors too", async () => {
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

  it("names its trace in the body of an error", async () => {
    const { body, headers, status } = await s.get("/contacts/unknown")
    assert.equal(status, 404)
    assert.deepEqual(Object.keys(body).sort(), ["error", "message", "statusCode", "traceId"])
    assert.equal(body["traceId"], headers.get("x-account-platform-requestid"))
  })
})
