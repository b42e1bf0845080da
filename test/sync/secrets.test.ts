/** Secrets must not leak, even if the service echoes them, and those that no request can carry are wrong settings. */
import { assert, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { onTestFinished } from "vitest"
import { acceleratedClock } from "../support/clock.ts"
import { query } from "../support/compare.ts"
import { holding } from "../support/holding.ts"
import { type ReceivedRequest, type Reply, hostileService, token } from "../support/hostile.ts"
import { knowing, newFolder, sluice } from "../support/sluice.ts"

const allFormats = { SLUICE_FORMATS: "duckdb,parquet,csv" }
const lists = "contacts,users,workflows,calendars,pipelines,email_templates,messages"

/** Echoes the token in bodies, field names, errors, redirects, links and files. */
const echoing =
  (elsewhere: string) =>
  ({ path, headers }: ReceivedRequest): Reply | undefined => {
    const said = String(headers.authorization)
    const bare = said.slice("Bearer ".length)
    if (path === "/contacts/search")
      return { body: { contacts: [{ id: "c1", firstName: said, [bare]: 1, tags: [encodeURIComponent(bare)] }] } }
    if (path.startsWith("/users/search"))
      return { status: 422, body: { statusCode: 422, message: ["bad header", said] } }
    if (path.startsWith("/workflows/"))
      return { status: 401, body: { statusCode: 401, message: `The token ${bare} is not authorized for this scope.` } }
    if (path.startsWith("/calendars/"))
      return { status: 302, headers: { location: `${elsewhere}/stolen?token=${bare}` }, body: { message: said } }
    if (path.startsWith("/opportunities/pipelines"))
      return { status: 307, headers: { location: `${elsewhere}/stolen` }, body: {} }
    const template = { id: "t1", type: "template", editorContentUrl: `${elsewhere}/linked?token=${bare}` }
    if (/^\/emails\/locations\/[^/]+\/templates\/t1/.test(path)) return { body: template }
    if (/^\/emails\/locations\/[^/]+\/templates\?/.test(path)) return { body: { items: [template], total: 1 } }
    const call = { id: "m1", messageType: "TYPE_CALL", dateAdded: "2026-01-01T00:00:00Z" }
    if (path.startsWith("/conversations/messages/export")) return { body: { messages: [call], total: 1 } }
    if (path.endsWith("/recording"))
      return {
        headers: { "content-type": "audio/mpeg" },
        body: Buffer.concat([Buffer.alloc(99_999, "x"), Buffer.from(said)])
      }
    return undefined
  }

const secretFile = (text: string) => {
  const path = join(newFolder(), "secret")
  writeFileSync(path, `${text}\n`, { mode: 0o600 })
  return path
}
const spellings = (secret: string) => [secret, encodeURIComponent(secret), secret.replaceAll("/", "\\/")]

/** The search for secrets has found the text that replaces them, in each kind of file that stores the contact. */
const assertSearched = (paths: ReadonlyArray<string>) => {
  for (const kind of [
    /warehouse\.duckdb$/,
    /vault.*\.zst$/,
    /crm\.duckdb$/,
    /contacts.*\.parquet$/,
    /contacts.*\.csv$/
  ])
    assert.match(paths.join("\n"), new RegExp(kind, "m"))
}

describe("the token", () => {
  const everyCommand = ["status", "rebuild", "verify --json", "sync --only users,workflows,calendars --json"]

  it("is in no output and in no file, although the service echoes it", { tags: ["slow"] }, async () => {
    const other = await hostileService(() => ({ body: { stolen: true } }))
    const service = await hostileService(echoing(other.url))
    onTestFinished(() => [service, other].forEach(({ close }) => close()))
    const environment = { ...service.environment, ...allFormats }
    const said: Array<string> = []
    const run = async (command: string) => {
      const ran = await sluice(command.split(" "), environment, { overrides: acceleratedClock() })
      said.push(ran.stdout, ran.stderr)
      return ran
    }
    const { code, stderr } = await run(`sync --only ${lists},recordings`)
    assert.strictEqual(code, 3, stderr)
    for (const command of everyCommand) await run(command)
    const filesWith = await holding(service.folder)
    for (const secret of spellings(token)) {
      for (const text of [...said, JSON.stringify(other.requests)]) assert.notInclude(text, secret)
      assert.deepStrictEqual(filesWith(secret), [])
    }
    assertSearched(filesWith("Bearer <redacted>"))
    // The service did receive the token and echo it.
    assert.isAbove(service.requests.filter(({ headers }) => headers.authorization === `Bearer ${token}`).length, 8)
    assert.match(stderr, /users: .*422 bad header,Bearer <redacted>/)
    assert.match(stderr, /workflows: .*The token <redacted> is not authorized/)
    assert.match(stderr, /recordings: failed requests: 1.*contains the credentials/)
    const [row] = await query(join(service.folder, "warehouse.duckdb"), "SELECT first_name FROM crm.contacts")
    assert.deepStrictEqual(row, { first_name: "Bearer <redacted>" })
    // Redirects are not followed; the content that a template links to is fetched without credentials.
    assert.deepStrictEqual([...new Set(other.requests.map(({ path }) => path.split("?")[0]))], ["/linked"])
    assert.isEmpty(other.requests.filter(({ headers }) => headers.authorization !== undefined))
  })

  it.each([
    ["itself", () => token],
    ["a file", () => `file:${secretFile(token)}`],
    ["a command", () => `cmd:cat ${secretFile(token)}`]
  ])("given as %s is redacted in the reason when the service refuses it", async (_, reference) => {
    const service = await hostileService(({ headers }) => ({
      status: 401,
      body: { statusCode: 401, message: `Invalid JWT: ${headers.authorization}` }
    }))
    onTestFinished(service.close)
    const ran = await sluice(["sync"], { ...service.environment, SLUICE_TOKEN: reference() })
    assert.strictEqual(ran.code, 77)
    assert.match(ran.stderr, /Invalid JWT: Bearer <redacted>/)
    assert.deepStrictEqual((await holding(service.folder))(token), [])
    assert.notInclude(ran.stdout + ran.stderr, token)
  })
})

describe("OAuth", () => {
  const given = { client: "client-secret-0815/x", refresh: "refresh-0-4711-abcdef" }
  const issued = (n: number) => ({ access_token: `access-${n}-abcdefgh`, refresh_token: `refresh-${n}-abcdefgh` })

  it("has its current tokens in tokens.json, and its secrets nowhere else", { tags: ["slow"] }, async () => {
    let renewals = 0
    const sent: Array<string> = []
    const service = await hostileService(({ path, headers, body }) => {
      if (path === "/oauth/token") {
        sent.push(body)
        return { body: { ...issued(++renewals), expires_in: 86_399, echo: body } }
      }
      if (path.startsWith("/workflows/")) return { status: 400, body: { statusCode: 400, message: sent.join(" ") } }
      if (path !== "/contacts/search") return undefined
      // The service refuses the first access token and echoes everything that it received.
      return headers.authorization === "Bearer access-1-abcdefgh"
        ? { status: 401, body: { statusCode: 401, message: `Invalid JWT ${headers.authorization} ${sent.join(" ")}` } }
        : { body: { contacts: [{ id: "c1", firstName: `${headers.authorization} access-1-abcdefgh`, source: sent }] } }
    })
    onTestFinished(service.close)
    const ran = await sluice(["sync", "--only", "contacts,workflows"], {
      ...service.environment,
      ...allFormats,
      SLUICE_TOKEN: "",
      SLUICE_CLIENT_ID: "client-id",
      SLUICE_CLIENT_SECRET: `cmd:cat ${secretFile(given.client)}`,
      SLUICE_REFRESH_TOKEN: `file:${secretFile(given.refresh)}`
    })
    assert.strictEqual(ran.code, 3, ran.stderr)
    assert.strictEqual(renewals, 2)
    const secrets = [given.client, given.refresh, ...Object.values(issued(1)), ...Object.values(issued(2))]
    const filesWith = await holding(service.folder)
    for (const secret of secrets.flatMap(spellings)) {
      for (const text of [ran.stdout, ran.stderr]) assert.notInclude(text, secret)
      const where = filesWith(secret).map((path) => basename(path))
      assert.deepStrictEqual(where, Object.values(issued(2)).includes(secret) ? ["tokens.json"] : [], secret)
    }
    assertSearched(filesWith("Bearer <redacted>"))
    assert.match(ran.stderr, /workflows: .*client_secret=<redacted>/)
  })
})

describe("a secret that no request can carry", () => {
  const settings = {
    SLUICE_TOKEN: "account.token",
    SLUICE_CLIENT_SECRET: "account.client_secret",
    SLUICE_REFRESH_TOKEN: "account.refresh_token",
    SLUICE_LISTEN_SECRET: "listen.secret",
    SLUICE_FLEET_AGENCY_TOKEN: "fleet.agency_token"
  }
  const app = { SLUICE_TOKEN: "", SLUICE_CLIENT_ID: "app", SLUICE_CLIENT_SECRET: "s-0815", SLUICE_REFRESH_TOKEN: "r-0" }
  /** Syncs the location with these settings; returns what it says, and how many requests it has sent. */
  const syncWith = async (more: Readonly<Record<string, string>>, ...flags: ReadonlyArray<string>) => {
    const { environment, requests, close } = await hostileService(() => undefined, newFolder())
    onTestFinished(close)
    const all = { ...environment, ...knowing("locations"), ...more }
    const ran = await sluice(["sync", "--only", "locations", ...flags], all)
    return { ...ran, requests: requests.length }
  }

  it.each([
    ["a line break inside", "pit-first-half\npit-second-half"],
    ["a carriage return inside", "pit-first-half\rpit-second-half"],
    ["a control character", "pit-0815\u0007-4711"],
    ["a typographic quote", "\u201cpit-0815-4711\u201d"],
    ["an emoji", "pit-0815-4711-\u{1f511}"],
    ["quotation marks around it", '"pit-0815-4711"'],
    ["a comment after it", "pit-0815-4711  # AGENCY-9"]
  ])("because of %s is a wrong setting: 78 at once, with its name and not its value", async (_, secret) => {
    for (const [variable, setting] of Object.entries(settings))
      for (const reference of [`file:${secretFile(secret)}`, "env:HELD", secret]) {
        const held = { ...(/CLIENT|REFRESH/.test(variable) && app), HELD: secret, [variable]: reference }
        const { code, requests, stderr, stdout } = await syncWith(held)
        assert.strictEqual(code, 78, stderr)
        assert.include(stderr, `${setting}: `)
        assert.include(stderr, "cannot be used")
        for (const part of secret.split(/[^\w-]+/).filter((text) => text !== ""))
          assert.notInclude(stdout + stderr, part)
        assert.strictEqual(requests, 0)
      }
  })

  it("is one of a target, too; a password of a database may have any character, and a file a line break", async () => {
    const config = secretFile(
      `[[publish]]\nname = "a"\nprofile = "raw"\nfolder = "s3://bucket/x"\ns3_key = "key"\ns3_secret = "cmd:printf 'a\\\\nb'"\n` +
        `[[publish]]\nname = "b"\nprofile = "raw"\npostgres = "postgres://u:\u043f\u0430\u0440@127.0.0.1:1/x"\n`
    )
    const refused = await syncWith({}, "--config", config)
    assert.deepStrictEqual([refused.code, refused.requests], [78, 0], refused.stderr)
    assert.match(refused.stderr, /publish\[0\]\.s3_secret: what its command prints cannot be used: it has a line break/)
    assert.notMatch(refused.stderr, /publish\[1\]/)
    const { code, stderr } = await syncWith({ SLUICE_TOKEN: `file:${secretFile(token)}` })
    assert.strictEqual(code, 0, stderr)
  })
})
