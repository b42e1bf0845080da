import { connect } from "node:net"
import { assert, describe, it } from "vitest"
import { listening } from "./client.ts"

const s = await listening({ contacts: 100 })

/** Writes bytes to a socket, and reads until it is closed. */
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

  it("responds to invalid requests with 400 and continues", async () => {
    assert.match(await raw("nonsense\r\n\r\n"), /^HTTP\/1.1 400/)
    assert.match(await raw("GET http:// HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), /^HTTP\/1.1 400/)
    const broken = "GET /contacts/%zz HTTP/1.1\r\nHost: x\r\nVersion: v3\r\nConnection: close\r\n"
    assert.match(await raw(`${broken}Authorization: Bearer ${s.token}\r\n\r\n`), /^HTTP\/1.1 400/)
    const large = `GET /contacts/x HTTP/1.1\r\nHost: x\r\nX-Large: ${"x".repeat(20_000)}\r\n\r\n`
    assert.match(await raw(large), /^HTTP\/1.1 400/)
    assert.equal((await s.get(`/locations/${s.locationId}`)).status, 200)
  })

  it("does not normalise paths", async () => {
    const statusOf = async (path: string) => {
      const headers = `Host: x\r\nVersion: v3\r\nAuthorization: Bearer ${s.token}\r\nConnection: close\r\n`
      return Number((await raw(`GET ${path} HTTP/1.1\r\n${headers}\r\n`)).split(" ")[1])
    }
    const location = `/locations/${s.locationId}`
    assert.equal(await statusOf(location), 200)
    assert.equal(await statusOf(`//sandbox${location}`), 404)
    assert.equal(await statusOf(`/contacts/..${location}`), 400)
    assert.equal(await statusOf(`/contacts/%2e%2e${location}`), 400)
    assert.equal(await statusOf(`${location}%2F..`), 403)
    assert.equal(await statusOf("/contacts/__proto__"), 404)
    assert.equal(await statusOf("/contacts/%00"), 404)
    assert.equal(await statusOf(`/${"x/".repeat(4000)}`), 404)
  })

  it("compresses in the encoding that the client prefers", async () => {
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
})
