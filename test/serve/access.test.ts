/** Who gets into the console: hosts, origins, links, passwords, and many of these. */
import { assert, describe, it } from "@effect/vitest"
import type { IncomingMessage } from "node:http"
import { hashOf, newAccess } from "../../src/features/serve/access.ts"

interface Sent {
  readonly host?: string
  readonly origin?: string
  readonly cookie?: string
  readonly method?: string
  readonly from?: string
  readonly forwarded?: string
}
const requestOf = ({
  cookie,
  forwarded,
  from = "10.0.0.9",
  host = "127.0.0.1:8787",
  method = "GET",
  origin
}: Sent = {}) =>
  ({
    method,
    headers: { host, origin, cookie, "x-forwarded-for": forwarded },
    socket: { localPort: 8787, remoteAddress: from }
    // What the access reads of a request.
  }) as unknown as IncomingMessage

const accessOf = (more: Partial<Parameters<typeof newAccess>[0]> = {}) =>
  newAccess({
    passwords: () => ({ owner: "right-password", reader: "reader-password" }),
    url: undefined,
    trustedProxies: [],
    isPublic: true,
    ...more
  })
const failing = async (run: () => unknown): Promise<string> => {
  try {
    await run()
    return "let in"
  } catch (cause) {
    return (cause as { readonly code: string }).code
  }
}
const opened = (access: ReturnType<typeof newAccess>, password: string, sent: Sent = {}) =>
  failing(() => access.openByPassword(requestOf(sent), password))

describe("the Host header", () => {
  it("names this machine, a number, or the address of the settings", async () => {
    const hosts = ["127.0.0.1:8787", "localhost:8787", "192.168.1.5:8787", "[::1]:8787"]
    for (const host of hosts)
      assert.strictEqual(await failing(() => accessOf().checkOrigin(requestOf({ host }))), "let in", host)
    for (const host of ["evil.example:8787", "127.0.0.1.evil.example:8787", "localhost:1", "", "localhost"])
      assert.strictEqual(await failing(() => accessOf().checkOrigin(requestOf({ host }))), "host", host)
    const local = accessOf({ isPublic: false })
    assert.strictEqual(await failing(() => local.checkOrigin(requestOf({ host: "192.168.1.5:8787" }))), "host")
    const named = accessOf({ url: "https://crm.example.com" })
    assert.strictEqual(await failing(() => named.checkOrigin(requestOf({ host: "crm.example.com" }))), "let in")
    assert.strictEqual(await failing(() => named.checkOrigin(requestOf({ host: "192.168.1.5:8787" }))), "host")
  })
  it("agrees with the Origin of whatever may change something", async () => {
    const access = accessOf()
    const post = (origin?: string) =>
      failing(() => access.checkOrigin(requestOf({ method: "POST", ...(origin !== undefined && { origin }) })))
    assert.strictEqual(await post("http://127.0.0.1:8787"), "let in")
    for (const origin of [undefined, "null", "http://evil.example", "https://127.0.0.1:8787", "http://127.0.0.1:8788"])
      assert.strictEqual(await post(origin), "origin", origin)
    const named = accessOf({ url: "https://crm.example.com" })
    const sent = { host: "crm.example.com", origin: "https://crm.example.com", method: "POST" }
    assert.strictEqual(await failing(() => named.checkOrigin(requestOf(sent))), "let in")
  })
})

describe("a link", () => {
  it("opens one session, and only that cookie is one", () => {
    const access = accessOf()
    const link = access.newLink(true)
    assert.isUndefined(access.openByLink("guessed"))
    assert.isUndefined(access.openByLink(null))
    const session = access.openByLink(link)!
    assert.strictEqual(session.role, "owner")
    assert.isUndefined(access.openByLink(link))
    const set = access.cookieOf(requestOf(), session)
    assert.match(set, /^sluice_console_8787=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict$/)
    const [cookie] = set.split(";")
    assert.strictEqual(access.sessionOf(requestOf({ cookie: `a=b; ${cookie}` }))?.id, session.id)
    for (const wrong of ["", "sluice_console_8787=", "sluice_console_8787=undefined", `x${cookie}`, `${cookie}x`])
      assert.isUndefined(access.sessionOf(requestOf({ cookie: wrong })), wrong)
    access.close(session)
    assert.isUndefined(access.sessionOf(requestOf({ cookie: cookie! })))
  })
  it("ends after twelve hours without a request, and is secure behind https", () => {
    let now = 0
    const access = accessOf({ now: () => now, url: "https://crm.example.com" })
    const session = access.openByLink(access.newLink(true))!
    const set = access.cookieOf(requestOf(), session)
    assert.match(set, /; Secure$/)
    const [cookie] = set.split(";")
    now += 11 * 3_600_000
    assert.isDefined(access.sessionOf(requestOf({ cookie: cookie! })))
    now += 12 * 3_600_000 + 1
    assert.isUndefined(access.sessionOf(requestOf({ cookie: cookie! })))
  })
})

describe("a password", () => {
  it("gives its role, as a secret or as a hash", async () => {
    const access = accessOf()
    assert.strictEqual((await access.openByPassword(requestOf(), "right-password")).role, "owner")
    assert.strictEqual((await access.openByPassword(requestOf(), "reader-password")).role, "reader")
    const hash = await hashOf("kept-password")
    assert.notInclude(hash, "kept")
    const hashed = accessOf({ passwords: () => ({ owner: hash, reader: undefined }) })
    assert.strictEqual(await opened(hashed, "kept-password"), "let in")
    // The hash is no password.
    assert.strictEqual(await opened(hashed, hash), "password")
    assert.strictEqual(await opened(hashed, ""), "password")
  })
  it("costs time when it was wrong five times, for its client alone", async () => {
    let now = 0
    const access = accessOf({ now: () => now })
    for (let count = 0; count < 5; count++) assert.strictEqual(await opened(access, "wrong"), "password")
    assert.strictEqual(await opened(access, "right-password"), "later")
    assert.strictEqual(await opened(access, "right-password", { from: "10.0.0.10" }), "let in")
    // A client that names another one in a header is the same client.
    assert.strictEqual(await opened(access, "right-password", { forwarded: "10.9.9.9" }), "later")
    now += 61_000
    assert.strictEqual(await opened(access, "right-password"), "let in")
  })
  it("is checked for the client that a trusted proxy names", async () => {
    const access = accessOf({ trustedProxies: ["10.0.0.1"] })
    const through = { from: "::ffff:10.0.0.1", forwarded: "6.6.6.6, 10.9.9.9" }
    for (let count = 0; count < 5; count++) await opened(access, "wrong", through)
    assert.strictEqual(await opened(access, "right-password", through), "later")
    assert.strictEqual(await opened(access, "right-password", { ...through, forwarded: "10.9.9.8" }), "let in")
  })
  it("is checked one at a time: of a thousand at once, most are refused without a check", async () => {
    const hash = await hashOf("kept-password")
    const access = accessOf({ passwords: () => ({ owner: hash, reader: undefined }) })
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, index) => opened(access, "wrong", { from: `10.1.${index >> 8}.${index & 255}` }))
    )
    assert.isAtMost(answers.filter((answer) => answer === "password").length, 5)
    assert.isFalse(answers.includes("let in"))
  })
})
