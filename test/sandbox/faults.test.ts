import { assert, describe, it } from "vitest"
import { type Client, listening, sandbox } from "./client.ts"

const s = await listening({ contacts: 50 })
const { locationId } = s

/** The result for a client: a status, or a broken connection. */
const statusSeen = async (client: Client = s): Promise<number | "died"> => {
  try {
    const response = await client.fetch(`/locations/${client.locationId}`, {
      headers: { Version: "v3", Authorization: `Bearer ${client.token}` }
    })
    await response.text()
    return response.status
  } catch {
    return "died"
  }
}

const faults = (...rules: Array<unknown>) => s.post("/__sandbox/faults", { rules })

describe("a fault", () => {
  it("responds instead of the operation", async () => {
    for (const [kind, status] of [
      ["500", 500],
      ["503", 503],
      ["429", 429],
      ["502html", 502]
    ]) {
      await faults({ kind, count: 1 })
      assert.deepEqual([await statusSeen(), await statusSeen()], [status, 200], String(kind))
    }
    await faults({ kind: "503", after: 1, count: 1 })
    assert.deepEqual([await statusSeen(), await statusSeen(), await statusSeen()], [200, 503, 200])
    await faults({ kind: "502html", count: 1 })
    const response = await s.fetch(`/locations/${locationId}`, {
      headers: { Version: "v3", Authorization: `Bearer ${s.token}` }
    })
    assert.match(response.headers.get("content-type") ?? "", /^text\/html/)
    assert.match(await response.text(), /<html>/)
  })

  it("prevents the effect of the operation if it comes before, and hides it if it comes after", async () => {
    const count = async () => (await s.records("contacts")).length
    const before = await count()
    const create = () =>
      s.post("/contacts/", { locationId, firstName: "Ghost" }).then(
        () => "answered",
        () => "died"
      )
    await faults({ kind: "reset-before", count: 1 })
    assert.deepEqual([await create(), await count()], ["died", before])
    await faults({ kind: "reset-after", count: 1 })
    assert.deepEqual([await create(), await count()], ["died", before + 1])
    await faults({ kind: "reset-within", count: 1 })
    assert.deepEqual([await create(), await count()], ["died", before + 2])
    assert.equal(await create(), "answered")
  })

  it("can truncate a response so that only its JSON is invalid", async () => {
    await faults({ kind: "truncate", count: 1 })
    const response = await s.fetch(`/locations/${locationId}`, {
      headers: { Version: "v3", Authorization: `Bearer ${s.token}` }
    })
    assert.equal(response.status, 200)
    const text = await response.text()
    assert.throws(() => JSON.parse(text) as unknown)
  })

  it("can delay a response, or never respond", async () => {
    await faults({ kind: "slow", count: 1, ms: 60 })
    const begun = performance.now()
    assert.equal(await statusSeen(), 200)
    assert.isAtLeast(performance.now() - begun, 55)
    await faults({ kind: "hang", count: 1 })
    const signal = AbortSignal.timeout(80)
    const headers = { Version: "v3", Authorization: `Bearer ${s.token}` }
    const silent = await s.fetch(`/locations/${locationId}`, { headers, signal }).catch((error: Error) => error.name)
    assert.equal(silent, "TimeoutError")
  })

  it("can refuse all requests for a time", async () => {
    await faults({ kind: "429-storm", count: 1, ms: 5000 })
    assert.deepEqual([await statusSeen(), await statusSeen(), await statusSeen()], [429, 429, 429])
    await s.post("/__sandbox/clock", { advanceMs: 5000 })
    assert.equal(await statusSeen(), 200)
  })

  it("can repeat the previous page", async () => {
    const page = async (skip: number) => {
      const { body } = await s.get(`/users/search?companyId=${s.companyId}&limit=2&skip=${skip}`)
      return body["users"].map((user: { id: string }) => user.id).join()
    }
    await faults({ kind: "repeat", match: "/users/", rate: 0 })
    const first = await page(0)
    assert.notEqual(await page(2), first)
    await faults({ kind: "repeat", match: "/users/", count: 2 })
    assert.equal(await page(0), first)
    assert.equal(await page(2), first)
    assert.notEqual(await page(2), first)
    await faults()
  })

  it("can answer every operation with an error in any form, and the status 200", async () => {
    await faults({ kind: "200", match: "/contacts/*", form: "graphql" })
    const failed = await s.get("/contacts/x")
    assert.deepEqual([failed.status, Object.keys(failed.body)], [200, ["data", "errors"]])
    assert.equal(await statusSeen(), 200)
    assert.equal((await s.get("/contacts/x/notes")).status, 404)
    await faults({ kind: "200", form: "html" })
    const headers = { Version: "v3", Authorization: `Bearer ${s.token}` }
    const response = await s.fetch(`/locations/${locationId}`, { headers })
    assert.deepEqual([response.status, response.headers.get("content-type")], [200, "text/html; charset=utf-8"])
    await faults()
  })

  it("affects only the paths that it names", async () => {
    await faults({ kind: "500", match: "/contacts/" })
    assert.equal(await statusSeen(), 200)
    assert.equal((await s.get("/contacts/x")).status, 500)
    await faults()
    assert.equal((await s.post("/__sandbox/faults", { rules: [{ kind: "flood" }] })).status, 400)
  })

  it("affects the same requests for the same seed", async () => {
    const run = async () => {
      const client = await sandbox({ contacts: 5, seed: 9, faults: [{ kind: "500", rate: 0.3 }] })
      const statuses = []
      for (let request = 0; request < 40; request++) statuses.push(await statusSeen(client))
      return statuses
    }
    const first = await run()
    assert.deepEqual(await run(), first)
    const failed = first.filter((status) => status === 500).length
    assert.isTrue(failed > 4 && failed < 24, String(failed))
  })
})
