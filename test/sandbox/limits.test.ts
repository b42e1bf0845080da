import { assert, describe, it } from "vitest"
import { type Client, sandbox } from "./client.ts"

const burst = async (client: Client, count: number): Promise<Array<number>> => {
  const replies = []
  for (let request = 0; request < count; request++)
    replies.push((await client.get(`/locations/${client.locationId}`)).status)
  return replies
}

describe("the limits", () => {
  it("allow the burst, refuse the next request, and return the remaining requests", async () => {
    const s = await sandbox({ limits: { burst: 5, intervalMs: 10_000, daily: 100 } })
    const first = await s.get(`/locations/${s.locationId}`)
    assert.equal(first.headers.get("x-ratelimit-max"), "5")
    assert.equal(first.headers.get("x-ratelimit-remaining"), "4")
    assert.equal(first.headers.get("x-ratelimit-daily-remaining"), "99")
    assert.deepEqual(await burst(s, 5), [200, 200, 200, 200, 429])
    const refused = await s.get(`/locations/${s.locationId}`)
    assert.equal(refused.headers.get("x-ratelimit-remaining"), "0")
    assert.isNull(refused.headers.get("retry-after"))
    const { body } = await s.get("/__sandbox/stats")
    assert.deepEqual([body["refused429"], body["fullestWindow"]], [2, 7])
  })

  it("use a sliding window: requests are available again one window after they were used", async () => {
    const s = await sandbox({ limits: { burst: 4, intervalMs: 60_000, daily: 100 } })
    await burst(s, 2)
    await s.post("/__sandbox/clock", { advanceMs: 30_000 })
    assert.deepEqual(await burst(s, 3), [200, 200, 429])
    assert.equal((await s.get("/__sandbox/stats")).body["fullestWindow"], 5)
    await s.post("/__sandbox/clock", { advanceMs: 30_000 })
    assert.deepEqual(await burst(s, 3), [200, 200, 429])
  })

  it("with fixed windows allow a burst before and after a boundary", async () => {
    const now = Math.ceil(Date.now() / 3_600_000) * 3_600_000 + 59_000
    const s = await sandbox({ limits: { burst: 3, intervalMs: 60_000, daily: 100 }, windowKind: "fixed", now })
    assert.deepEqual(await burst(s, 4), [200, 200, 200, 429])
    await s.post("/__sandbox/clock", { advanceMs: 1000 })
    assert.deepEqual(await burst(s, 4), [200, 200, 200, 429])
  })

  it("refuse requests for the rest of the day after the daily limit", async () => {
    const s = await sandbox({ limits: { burst: 100, intervalMs: 10_000, daily: 3 }, retryAfter: 9 })
    assert.deepEqual(await burst(s, 4), [200, 200, 200, 429])
    const refused = await s.get(`/locations/${s.locationId}`)
    assert.equal(refused.headers.get("retry-after"), "9")
    assert.equal(refused.headers.get("x-ratelimit-daily-remaining"), "0")
    assert.isAbove(Number(refused.headers.get("x-ratelimit-daily-reset")), 86_000_000)
    await s.post("/__sandbox/clock", { advanceMs: 86_400_000 })
    assert.deepEqual(await burst(s, 1), [200])
  })

  it("are shared with another client of the account", async () => {
    const s = await sandbox({ limits: { burst: 10, intervalMs: 10_000, daily: 100 }, foreign: 7 })
    assert.deepEqual(await burst(s, 4), [200, 200, 200, 429])
  })

  it("are separate for the private token and the app, and shared by all tokens of the app", async () => {
    const s = await sandbox({ limits: { burst: 3, intervalMs: 10_000, daily: 4 } })
    let { refreshToken } = s
    const renewed = async () => {
      const { clientId: client_id, clientSecret: client_secret } = s
      const form = { grant_type: "refresh_token", client_id, client_secret, refresh_token: refreshToken }
      const headers = { "Content-Type": "application/x-www-form-urlencoded", Authorization: "" }
      const { body, headers: rates } = await s.post("/oauth/token", new URLSearchParams(form).toString(), headers)
      assert.notEqual(rates.get("x-ratelimit-remaining"), "0")
      refreshToken = body["refresh_token"]
      return { Authorization: `Bearer ${body["access_token"]}` }
    }
    const readLocation = (bearer: Record<string, string>) => s.get(`/locations/${s.locationId}`, bearer)
    assert.deepEqual(await burst(s, 4), [200, 200, 200, 429])
    const first = await readLocation(await renewed())
    assert.deepEqual([first.status, first.headers.get("x-ratelimit-remaining")], [200, "2"])
    const app = await renewed()
    assert.deepEqual(
      [(await readLocation(app)).status, (await readLocation(app)).status, (await readLocation(app)).status],
      [200, 200, 429]
    )
    assert.equal((await s.get("/__sandbox/stats")).body["fullestWindow"], 4)
    await s.post("/__sandbox/clock", { advanceMs: 10_000 })
    assert.deepEqual(await burst(s, 2), [200, 429])
    const last = await readLocation(app)
    assert.deepEqual([last.status, last.headers.get("x-ratelimit-daily-remaining")], [200, "0"])
  })

  it("do not count control requests and requests without a valid token", async () => {
    const s = await sandbox({ limits: { burst: 1, intervalMs: 10_000, daily: 100 } })
    await s.get(`/locations/${s.locationId}`, { Authorization: "Bearer x" })
    await s.get("/__sandbox/stats")
    assert.deepEqual(await burst(s, 2), [200, 429])
  })
})
