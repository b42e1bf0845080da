import { assert, describe, it } from "vitest"
import { Agency } from "../../sandbox/agency.ts"
import { handle } from "../../sandbox/http/handler.ts"
import type { SandboxOptions } from "../../sandbox/options.ts"
import { type Json, VirtualClock } from "./client.ts"

const start = (options: SandboxOptions) => {
  const clock = new VirtualClock(Date.now())
  const agency = new Agency({ contacts: 20, locations: 3, ...options }, clock)
  const send = async (method: string, target: string, token?: string, body = "", type = "application/json") => {
    const headers = {
      version: "v3",
      "content-type": type,
      ...(token !== undefined && { authorization: `Bearer ${token}` })
    }
    const request = { method, target, headers, body: Buffer.from(body) }
    const answered = await handle(request, agency.serviceFor(request))
    const text = typeof answered.body === "string" ? answered.body : [...(answered.body as Iterable<string>)].join("")
    return { status: answered.status, headers: answered.headers, text, body: () => JSON.parse(text) as Json }
  }
  const get = (target: string, token?: string) => send("GET", target, token)
  const locations = async () => (await get("/__sandbox/locations")).body() as unknown as ReadonlyArray<Json>
  return { agency, clock, get, send, locations }
}

describe("an agency", () => {
  it("lists its locations for its own token, page by page, and for no other", async () => {
    const { agency, get, locations } = start({ locations: 25 })
    const pages = await Promise.all(
      [0, 10, 20].map(async (skip) => (await get(`/locations/search?skip=${skip}`, agency.token)).body()["locations"])
    )
    assert.deepEqual(
      pages.map((page) => page.length),
      [10, 10, 5]
    )
    const listed = pages.flat()
    const known = await locations()
    assert.deepEqual(listed.map(({ id }) => id).sort(), known.map(({ locationId }) => locationId).sort())
    assert.equal(new Set(listed.map(({ companyId }) => companyId)).size, 1)
    assert.equal(new Set(listed.map(({ name }) => name)).size, 25)
    const own = (await get("/locations/search", known[7]!.token)).body()["locations"]
    assert.deepEqual(
      own.map((row: Json) => row["id"]),
      [known[7]!["locationId"]]
    )
  })

  it("cuts the pages of its locations as those of every other list", async () => {
    const { agency, get } = start({ locations: 25, variants: { pageCut: 7 } })
    const pages = [0, 7, 14, 21].map(
      async (skip) => (await get(`/locations/search?limit=100&skip=${skip}`, agency.token)).body()["locations"].length
    )
    assert.deepEqual(await Promise.all(pages), [7, 7, 7, 4])
  })

  it("has locations with different records, each for its own token only", async () => {
    const { agency, get, locations, send } = start({})
    const known = await locations()
    const names = await Promise.all(
      known.map(async ({ locationId, token }) => {
        const search = JSON.stringify({ locationId, pageLimit: 100 })
        const { contacts } = (await send("POST", "/contacts/search", token, search)).body()
        return contacts.map((contact: Json) => contact["id"]) as ReadonlyArray<string>
      })
    )
    assert.equal(new Set(names.flat()).size, 60)
    const path = `/calendars/?locationId=${known[1]!["locationId"]}`
    assert.equal((await get(path, known[2]!["token"])).status, 403)
    assert.equal((await get(path, agency.token)).status, 403)
    assert.equal((await get(path, "pit-unknown")).status, 401)
  })

  it("serves the content of the emails of each location, without a token", async () => {
    const { get, locations } = start({})
    for (const { locationId } of await locations()) {
      const records = (await get(`/__sandbox/records/email_templates?location=${locationId}`)).text
      const { editorContentUrl } = JSON.parse(records.split("\n")[0]!)
      assert.equal((await get(editorContentUrl)).status, 200)
    }
  })

  it("has one app, with a refresh token for each location, which works once", async () => {
    const { agency, get, locations, send } = start({})
    const { clientId, clientSecret } = agency.first.tokens
    const refresh = async (token: unknown) => {
      const form = { grant_type: "refresh_token", client_id: clientId, client_secret: clientSecret }
      const text = new URLSearchParams({ ...form, refresh_token: String(token) }).toString()
      return (await send("POST", "/oauth/token", undefined, text, "application/x-www-form-urlencoded")).body()
    }
    for (const { locationId, refreshToken } of await locations()) {
      const first = await refresh(refreshToken)
      assert.equal(first["locationId"], locationId)
      assert.equal((await get(`/locations/${locationId}`, String(first["access_token"]))).status, 200)
      assert.equal((await refresh(refreshToken))["error"], "invalid_grant")
      assert.equal((await refresh(first["refresh_token"]))["locationId"], locationId)
    }
  })

  it("gives each location limits of its own, and counts them", async () => {
    const { get, locations } = start({ limits: { burst: 4, intervalMs: 10_000, daily: 100 } })
    const [one, other] = (await locations()) as [Json, Json]
    const read = async ({ locationId, token }: Json) => (await get(`/locations/${locationId}`, token)).status
    const statuses = []
    for (let request = 0; request < 5; request++) statuses.push(await read(one))
    assert.deepEqual(statuses, [200, 200, 200, 200, 429])
    assert.equal(await read(other), 200)
    assert.deepEqual(
      (await locations()).map(({ fullestWindow, refused429, requests }) => [requests, fullestWindow, refused429]),
      [
        [5, 5, 1],
        [1, 1, 0],
        [0, 0, 0]
      ]
    )
    const { text } = await get(`/__sandbox/records/contacts?location=${other["locationId"]}`)
    assert.equal(text.trim().split("\n").length, 20)
    assert.include(text, other["locationId"])
  })

  it("renews the token of an app at the location of the app", async () => {
    const { agency, get, locations, send } = start({})
    const [, second] = (await locations()) as [Json, Json]
    const { clientId, clientSecret, refreshToken } = agency.serviceFor({
      method: "GET",
      target: "/",
      headers: { authorization: `Bearer ${second["token"]}` },
      body: undefined
    }).tokens
    const form = new URLSearchParams({
      grant_type: "refresh_token",
      client_id: clientId,
      client_secret: clientSecret,
      refresh_token: refreshToken
    })
    const issued = await send("POST", "/oauth/token", undefined, String(form), "application/x-www-form-urlencoded")
    const { access_token: token, locationId } = issued.body()
    assert.equal(locationId, second["locationId"])
    assert.equal((await get(`/locations/${locationId}`, token)).status, 200)
  })

  it("of 2,000 locations starts in less than two seconds", () => {
    const begun = performance.now()
    const { agency } = start({ locations: 2000, contacts: 50 })
    assert.equal(agency.locations().length, 2000)
    assert.isBelow(performance.now() - begun, 2000)
  })
})
