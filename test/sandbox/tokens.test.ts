import { assert, describe, it } from "vitest"
import { sandbox } from "./client.ts"

const s = await sandbox({ tokenLifetime: 60 })
const form = { "Content-Type": "application/x-www-form-urlencoded", Authorization: "" }
const refresh = (refreshToken: string, more: Record<string, string> = {}) =>
  s.post(
    "/oauth/token",
    new URLSearchParams({
      grant_type: "refresh_token",
      client_id: s.clientId,
      client_secret: s.clientSecret,
      refresh_token: refreshToken,
      ...more
    }).toString(),
    form
  )

describe("POST /oauth/token", () => {
  it("refuses JSON", async () => {
    const { body, status } = await s.post("/oauth/token", { refresh_token: s.refreshToken }, { Authorization: "" })
    assert.deepEqual([status, body["error"]], [400, "invalid_request"])
    assert.isString(body["error_description"])
  })

  it("needs the version and no token, and refuses a wrong client", async () => {
    assert.equal((await s.post("/oauth/token", "", { ...form, Version: "" })).status, 401)
    assert.equal((await refresh(s.refreshToken, { client_secret: "wrong" })).body["error"], "invalid_client")
  })

  it("rotates tokens: each refresh token works once, and access tokens expire", async () => {
    const { body, status } = await refresh(s.refreshToken)
    assert.equal(status, 200)
    assert.deepEqual([body["token_type"], body["expires_in"], body["companyId"]], ["Bearer", 60, s.companyId])
    const reused = await refresh(s.refreshToken)
    assert.deepEqual([reused.status, reused.body["error"]], [400, "invalid_grant"])

    const bearer = { Authorization: `Bearer ${body["access_token"]}` }
    assert.equal((await s.get(`/locations/${s.locationId}`, bearer)).status, 200)
    await s.post("/__sandbox/clock", { advanceMs: 60_000 })
    assert.equal((await s.get(`/locations/${s.locationId}`, bearer)).body["message"], "Invalid JWT")

    const again = await refresh(body["refresh_token"])
    assert.equal(again.status, 200)
  })

  it("returns scopes, and its token can expire while the private token stays valid", async () => {
    const fresh = await refresh((await s.post("/__sandbox/token")).body["refreshToken"])
    assert.includeMembers(fresh.body["scope"].split(" "), ["contacts.write", "calendars/events.readonly"])
    const bearer = { Authorization: `Bearer ${fresh.body["access_token"]}` }
    assert.equal((await s.get(`/locations/${s.locationId}`, bearer)).status, 200)
    await s.post("/__sandbox/token", { expireInMs: 0 })
    assert.equal((await s.get(`/locations/${s.locationId}`, bearer)).body["message"], "Invalid JWT")
    assert.equal((await s.get(`/locations/${s.locationId}`)).status, 200)
  })

  it("issues a new token after all were revoked", async () => {
    const { body } = await s.post("/__sandbox/token", { revoke: true })
    assert.equal((await s.get(`/locations/${s.locationId}`)).status, 401)
    const fresh = await refresh(body["refreshToken"])
    const bearer = { Authorization: `Bearer ${fresh.body["access_token"]}` }
    assert.equal((await s.get(`/locations/${s.locationId}`, bearer)).status, 200)
  })
})
