import { connect } from "node:net"
import { assert, describe, it } from "vitest"
import { readOptions } from "../../src/sandbox/flags.ts"
import { sandbox } from "./client.ts"

const s = await sandbox({ contacts: 100 })

/** Writes bytes to the socket and reads what comes back until it closes. */
const raw = (bytes: string): Promise<string> =>
  new Promise((resolve) => {
    let answer = ""
    const socket = connect(Number(new URL(s.url).port), "127.0.0.1", () => socket.end(bytes))
    socket.on("data", (part) => (answer += part.toString()))
    socket.on("close", () => resolve(answer))
    socket.on("error", () => resolve(answer))
  })

describe("the server", () => {
  it("refuses a body over 1 MB", async () => {
    const { status } = await s.post("/contacts/", { locationId: s.locationId, firstName: "x".repeat(1_100_000) })
    assert.equal(status, 413)
  })

  it("answers nonsense with 400 and goes on", async () => {
    assert.match(await raw("nonsense\r\n\r\n"), /^HTTP\/1.1 400/)
    assert.match(await raw("GET http:// HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), /^HTTP\/1.1 400/)
    const broken = "GET /contacts/%zz HTTP/1.1\r\nHost: x\r\nVersion: v3\r\nConnection: close\r\n"
    assert.match(await raw(`${broken}Authorization: Bearer ${s.token}\r\n\r\n`), /^HTTP\/1.1 400/)
    const large = `GET /contacts/x HTTP/1.1\r\nHost: x\r\nX-Large: ${"x".repeat(20_000)}\r\n\r\n`
    assert.match(await raw(large), /^HTTP\/1.1 400/)
    assert.equal((await s.get(`/locations/${s.locationId}`)).status, 200)
  })

  it("takes a path as it is written", async () => {
    const ask = async (path: string) => {
      const headers = `Host: x\r\nVersion: v3\r\nAuthorization: Bearer ${s.token}\r\nConnection: close\r\n`
      return Number((await raw(`GET ${path} HTTP/1.1\r\n${headers}\r\n`)).split(" ")[1])
    }
    const location = `/locations/${s.locationId}`
    assert.equal(await ask(location), 200)
    assert.equal(await ask(`//sandbox${location}`), 404)
    assert.equal(await ask(`/contacts/..${location}`), 400)
    assert.equal(await ask(`/contacts/%2e%2e${location}`), 400)
    assert.equal(await ask(`${location}%2F..`), 403)
    assert.equal(await ask("/contacts/__proto__"), 404)
    assert.equal(await ask("/contacts/%00"), 404)
    assert.equal(await ask(`/${"x/".repeat(4000)}`), 404)
  })

  it("takes prototypes for data, and refuses a body nested without end", async () => {
    const { locationId } = s
    const sent = `{"locationId":"${locationId}","__proto__":{"firstName":"Evil"},"constructor":{"prototype":{"x":1}}}`
    const made = await s.post("/contacts/", sent)
    assert.equal(made.status, 201)
    assert.isUndefined(made.body["contact"].firstName)
    const calendar = await s.post("/calendars/", `{"name":"x",${sent.slice(1)}`)
    assert.equal(calendar.status, 200)
    assert.isUndefined(({} as Record<string, unknown>)["x"])
    const deep = `${"[".repeat(400_000)}${"]".repeat(400_000)}`
    assert.equal((await s.post("/contacts/", `{"locationId":"${locationId}","tags":${deep}}`)).status, 400)
    const nested = `${'{"a":'.repeat(300)}1${"}".repeat(300)}`
    assert.equal((await s.post("/calendars/", `{"locationId":"${locationId}","name":"x","a":${nested}}`)).status, 400)
    assert.equal((await s.get("/__sandbox/records/constructor")).status, 404)
    assert.equal((await s.get("/__sandbox/records/__proto__")).status, 404)
  })

  it("survives any value in any parameter", async () => {
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

  it("compresses as the client prefers", async () => {
    const body = JSON.stringify({ locationId: s.locationId, pageLimit: 50 })
    for (const [accept, encoding] of [
      ["gzip", "gzip"],
      ["br", "br"],
      ["gzip, zstd", "zstd"],
      ["zstd;q=0, gzip;q=0.5, br;q=0.1", "gzip"],
      ["identity", null]
    ]) {
      const { body: answer, headers } = await s.post("/contacts/search", body, { "Accept-Encoding": accept! })
      assert.equal(headers.get("content-encoding"), encoding!)
      assert.equal(answer["contacts"].length, 50)
    }
  })

  it("answers a preflight with the documented headers, and lets any origin read", async () => {
    const response = await fetch(`${s.url}/contacts/search`, { method: "OPTIONS" })
    assert.equal(response.status, 204)
    assert.equal(
      response.headers.get("access-control-allow-headers"),
      "Authorization, Version, Content-Type, Accept, locationId, MCP-Protocol-Version, Mcp-Session-Id, Last-Event-ID"
    )
    for (const path of ["/contacts/search", "/nowhere"]) {
      assert.equal((await fetch(s.url + path)).headers.get("access-control-allow-origin"), "*")
    }
    assert.isNull(response.headers.get("access-control-allow-credentials"))
  })

  it("can be slow for every request", async () => {
    const slow = await sandbox({ contacts: 1, latencyMs: [20, 30] })
    const begun = performance.now()
    await slow.get(`/locations/${slow.locationId}`)
    assert.isAtLeast(performance.now() - begun, 19)
  })
})

describe("the flags", () => {
  it("become options", () => {
    const values = { contacts: "20", "notes-per-contact": "1.5", limits: "25/10000/10000", latency: "0-300" }
    assert.deepEqual(
      readOptions({ ...values, faults: "500:0.1,reset-after:0.05:/contacts", quirk: ["exportLimitMax=500"] }),
      {
        contacts: 20,
        notesPerContact: 1.5,
        limits: { burst: 25, intervalMs: 10_000, daily: 10_000 },
        latencyMs: [0, 300],
        faults: [
          { kind: "500", rate: 0.1 },
          { kind: "reset-after", rate: 0.05, match: "/contacts" }
        ],
        quirks: { exportLimitMax: 500 }
      }
    )
    assert.deepEqual(readOptions({ limits: "off", faults: "0.02", "no-compression": true }), {
      compress: false,
      limits: "off",
      faults: 0.02
    })
  })

  it("that make no sense are refused in one sentence", () => {
    for (const values of [
      { contacts: "many" },
      { limits: "some" },
      { latency: "9-1" },
      { world: "flat" },
      { now: "later" },
      { faults: "flood:1" },
      { quirk: ["contactPaging=maybe"] },
      { quirk: ["what=ever"] }
    ]) {
      assert.throws(() => readOptions(values), /^--[a-z-]+ .*\.$/)
    }
  })
})
