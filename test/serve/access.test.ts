/** Who gets into the console: hosts, origins, links, passwords, and many of these. */
import { limitsOf, usualLimits } from "../../src/values/limits.ts"
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import type { IncomingMessage } from "node:http"
import { join } from "node:path"
import { addressOf } from "../../src/features/serve/command.ts"
import { hashOf, isHash, newAccess } from "../../src/features/serve/access.ts"
import { newFolder, sluice } from "../support/sluice.ts"

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

const accessOf = (more: Partial<Parameters<typeof newAccess>[0]> = {}, limits = usualLimits.serve) =>
  newAccess(
    {
      passwords: () => ({ owner: "right-password", reader: "reader-password" }),
      url: undefined,
      trustedProxies: [],
      isPublic: true,
      ...more
    },
    limits
  )
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

describe("a stored password", () => {
  it.each(["", " ", "short", "scrypt:", "scrypt:x:", "scrypt::"])(
    "that is %j opens nothing, not even for itself",
    async (owner) => {
      const access = accessOf({ passwords: () => ({ owner, reader: undefined }) })
      for (const given of [owner, "", owner.trim()]) assert.strictEqual(await opened(access, given), "password")
    }
  )
  it.each(["", "\n", "plain-password-here", "scrypt:x:y"])("that is %j refuses the start of the page", async (text) => {
    const folder = newFolder()
    writeFileSync(join(folder, "console-password"), text)
    const args = [
      "serve",
      "--listen",
      "0.0.0.0",
      "--config",
      join(folder, "sluice.toml"),
      "--output",
      join(folder, "output")
    ]
    const { code, stderr } = await sluice(args, {})
    assert.strictEqual(code, 78, stderr)
    assert.include(stderr, join(folder, "console-password"))
    // A folder in its place is no password that was forgotten.
    rmSync(join(folder, "console-password"))
    mkdirSync(join(folder, "console-password"))
    assert.strictEqual((await sluice(args, {})).code, 78)
  })
  it("is a hash in the form that the page writes", async () => {
    assert.isTrue(isHash(await hashOf("right-password")))
    for (const text of ["", "scrypt:", "right-password", (await hashOf("right-password")).slice(0, -1)])
      assert.isFalse(isHash(text))
  })
})

describe("the Host header", () => {
  it("names this machine, a number, or the address of the settings", async () => {
    const hosts = ["127.0.0.1:8787", "localhost:8787", "192.168.1.5:8787", "[::1]:8787", "LOCALHOST:8787"]
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
    const plain = { ...sent, origin: "http://crm.example.com" }
    assert.strictEqual(await failing(() => named.checkOrigin(requestOf(plain))), "origin")
  })
})

it("the printed address is one that this machine reaches", () => {
  for (const [host, address] of [
    ["127.0.0.1", "http://127.0.0.1:8787/"],
    ["localhost", "http://localhost:8787/"],
    ["::1", "http://[::1]:8787/"],
    ["0.0.0.0", "http://127.0.0.1:8787/"],
    ["::", "http://127.0.0.1:8787/"],
    ["192.168.1.5", "http://192.168.1.5:8787/"],
    ["fd00::5", "http://[fd00::5]:8787/"]
  ] as const) {
    assert.strictEqual(addressOf(host, 8787), address)
    // And the page answers there: also behind a name, for whoever is on this machine.
    const own = { ...requestOf({ host: new URL(address).host }), socket: { localPort: 8787, localAddress: host } }
    const named = accessOf({ isPublic: false, url: "https://crm.example.com" })
    if (!/^[0:.]+$/.test(host)) named.checkOrigin(own as IncomingMessage)
  }
})

describe("a link", () => {
  it("opens one session, and only that cookie is one", () => {
    const access = accessOf()
    const link = access.newLink(true)
    assert.isUndefined(access.openByLink(requestOf(), "guessed"))
    assert.isUndefined(access.openByLink(requestOf(), null))
    const session = access.openByLink(requestOf(), link)!
    assert.strictEqual(session.role, "owner")
    assert.isUndefined(access.openByLink(requestOf(), link))
    const set = access.cookieOf(requestOf(), session)
    assert.match(set, /^sluice_console_8787=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict$/)
    const [cookie] = set.split(";")
    assert.strictEqual(access.sessionOf(requestOf({ cookie: `a=b; ${cookie}` }))?.id, session.id)
    for (const wrong of ["", "sluice_console_8787=", "sluice_console_8787=undefined", `x${cookie}`, `${cookie}x`])
      assert.isUndefined(access.sessionOf(requestOf({ cookie: wrong })), wrong)
    // Any other port of this machine may set a cookie of the same name.
    assert.isDefined(access.sessionOf(requestOf({ cookie: `sluice_console_8787=x; ${cookie}; sluice_console_8787=y` })))
    access.close(session)
    assert.isUndefined(access.sessionOf(requestOf({ cookie: cookie! })))
  })
  it("opens nothing for who comes through a proxy or by another name, and stays for who does not", () => {
    const access = accessOf({ url: "https://crm.example.com" })
    const link = access.newLink(true)
    for (const sent of [{ host: "crm.example.com" }, { host: "192.168.1.5:8787" }, { forwarded: "10.9.9.9" }])
      assert.isUndefined(access.openByLink(requestOf(sent), link), JSON.stringify(sent))
    // A proxy may leave the host as it sends it, and name the client in its own way.
    for (const name of ["forwarded", "via", "x-real-ip", "x-forwarded-host", "x-forwarded-proto"]) {
      const through = requestOf()
      through.headers[name] = "10.9.9.9"
      assert.isUndefined(access.openByLink(through, link), name)
    }
    assert.isDefined(access.openByLink(requestOf({ host: "LOCALHOST:8787" }), link))
  })
  it("is known to the next server, if that is told, by a digest alone", () => {
    let [now, text] = [0, ""]
    const kept = () => ({ text, write: (next: string) => (text = next) })
    const first = accessOf({ kept: kept(), now: () => now })
    const [session, other] = [1, 2].map(() => first.openByLink(requestOf(), first.newLink(true))!)
    const [cookie, left] = [session!, other!].map((one) => first.cookieOf(requestOf(), one).split(";")[0]!)
    first.close(other!)
    assert.notInclude(text, session!.id)
    const next = accessOf({ kept: kept(), now: () => now })
    assert.strictEqual(next.sessionOf(requestOf({ cookie: cookie! }))?.role, "owner")
    // Neither one that was left, nor what the file says, nor what nobody has written.
    const digest = JSON.parse(text)[0].id
    for (const one of [left!, `sluice_console_8787=${digest}`])
      assert.isUndefined(next.sessionOf(requestOf({ cookie: one })), one)
    for (const wrong of ["", "{}", '[{"id":1}]']) {
      const access = accessOf({ kept: { text: wrong, write: () => {} } })
      assert.isUndefined(access.sessionOf(requestOf({ cookie: cookie! })))
    }
    now = 12 * 3_600_000 + 1
    assert.isUndefined(accessOf({ kept: kept(), now: () => now }).sessionOf(requestOf({ cookie: cookie! })))
  })
  it("ends after twelve hours without a request, and is secure behind https", () => {
    let now = 0
    const access = accessOf({ now: () => now, url: "https://crm.example.com" })
    const session = access.openByLink(requestOf(), access.newLink(true))!
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
    assert.isAtMost(answers.filter((answer) => answer === "password").length, 20)
    assert.isFalse(answers.includes("let in"))
  })
  it("waits while another one is checked, and the oldest wrong ones of many networks are forgotten", async () => {
    const { serve } = limitsOf({ serve: { passwordChecks: 1, networks: 2 } })
    const access = accessOf({}, serve)
    const both = await Promise.all(["10.0.1.1", "10.0.1.2"].map((from) => opened(access, "wrong", { from })))
    assert.deepStrictEqual(both, ["password", "later"])
    for (let count = 0; count < 4; count++) await opened(access, "wrong", { from: "10.0.1.1" })
    assert.strictEqual(await opened(access, "right-password", { from: "10.0.1.1" }), "later")
    for (const from of ["10.0.1.3", "10.0.1.4"]) await opened(access, "wrong", { from })
    assert.strictEqual(await opened(access, "right-password", { from: "10.0.1.1" }), "let in")
  })
  it("lets its owner in while thousands of addresses try, and forgets none that it blocks for another", async () => {
    const access = accessOf()
    assert.strictEqual(await opened(access, "right-password", { from: "10.0.0.10" }), "let in")
    for (let count = 0; count < 5; count++) await opened(access, "wrong", { from: "2001:db8::1" })
    const many = Array.from({ length: 9000 }, (_, n) => opened(access, "wrong", { from: `10.${n >> 8}.${n & 255}.7` }))
    assert.strictEqual(await opened(access, "right-password", { from: "10.0.0.10" }), "let in")
    await Promise.all(many)
    // A customer has a whole network of IPv6.
    for (const from of ["2001:db8::1", "2001:db8::2", "2001:0db8:0:0:ffff:1:2:3", "2001:DB8::9"])
      assert.strictEqual(await opened(access, "right-password", { from }), "later", from)
    assert.strictEqual(await opened(access, "right-password", { from: "2001:db8:0:1::1" }), "let in")
  })
})
