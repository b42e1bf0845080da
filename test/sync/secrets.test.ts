/** What must not leak, with a service that says back all it was told: the token, by every way it can be given. */
import { assert, describe, it } from "@effect/vitest"
import { lstatSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { openAccount } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { type Asked, type Reply, below, holding, hostileService, token } from "../support/hostile.ts"
import { type Running, newFolder, sluice, start } from "../support/sluice.ts"

const allFormats = { SLUICE_FORMATS: "duckdb,parquet,csv" }
const lists = "contacts,users,workflows,calendars,pipelines,email_templates,messages"

/** Says the token back in every way a service has. */
const echoing =
  (elsewhere: string) =>
  ({ path, headers }: Asked): Reply | undefined => {
    const said = String(headers.authorization)
    const bare = said.slice("Bearer ".length)
    if (path === "/contacts/search")
      return { body: { contacts: [{ id: "c1", firstName: said, [bare]: 1, tags: [encodeURIComponent(bare)] }] } }
    if (path.startsWith("/users/search")) return { status: 422, body: { message: ["bad header", said] } }
    if (path.startsWith("/workflows/"))
      return { status: 401, body: { message: `The token ${bare} is not authorized for this scope.` } }
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

/** Arguments of every process on the machine while one of ours runs. */
const argumentsWhile = (running: Running) => {
  const seen = new Set<string>()
  const timer = setInterval(() => {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
      try {
        seen.add(readFileSync(`/proc/${pid}/cmdline`, "utf8"))
      } catch {
        // It ended meanwhile.
      }
  }, 20)
  void running.ended.finally(() => clearInterval(timer))
  return seen
}

const secretFile = (text: string) => {
  const path = join(newFolder(), "secret")
  writeFileSync(path, `${text}\n`, { mode: 0o600 })
  return path
}
const spellings = (secret: string) => [secret, encodeURIComponent(secret), secret.replaceAll("/", "\\/")]

describe("the token", () => {
  it.each([
    ["itself", (path: string) => readFileSync(path, "utf8").trim(), lists],
    // A file that cannot be kept is asked for again and again, so once is enough.
    ["a file", (path: string) => `file:${path}`, `${lists},recordings`],
    ["a command", (path: string) => `cmd:cat ${path}`, lists]
  ])("given as %s stands nowhere, though the service says it back everywhere", async (_, reference, only) => {
    const other = await hostileService(() => ({ body: { stolen: true } }))
    const service = await hostileService(echoing(other.url))
    try {
      const environment = { ...service.environment, ...allFormats, SLUICE_TOKEN: reference(secretFile(token)) }
      const running = start(["sync", "--only", only], environment)
      const seen = argumentsWhile(running)
      const ran = await running.ended
      assert.strictEqual(ran.code, 77, ran.stderr)
      assert.isTrue([...seen].some((line) => line.includes("main.ts\0sync")))
      const more = [
        await sluice(["status"], environment),
        await sluice(["rebuild"], environment),
        await sluice(["verify", "--json"], environment),
        await sluice(["sync", "--only", "users,workflows,calendars", "--json"], environment)
      ]
      const said = [ran, ...more].flatMap(({ stdout, stderr }) => [stdout, stderr])
      for (const secret of spellings(token)) {
        for (const text of [...said, ...seen]) assert.notInclude(text, secret)
        assert.deepStrictEqual(holding(service.folder, secret), [])
      }
      // It was there to be found.
      assert.isAbove(service.asked.filter(({ headers }) => headers.authorization === `Bearer ${token}`).length, 8)
      assert.match(ran.stderr, /users: .*422 bad header,Bearer <redacted>/)
      assert.match(ran.stderr, /workflows: .*The token <redacted> is not authorized/)
      if (only.endsWith("recordings"))
        assert.match(ran.stderr, /recordings: 1 could not be read.*repeats our credentials/)
      const [row] = await query(join(service.folder, "warehouse.duckdb"), "SELECT first_name FROM crm.contacts")
      assert.deepStrictEqual(row, { first_name: "Bearer <redacted>" })
      // Redirects are not followed; what a template links to is fetched with nothing of ours.
      assert.deepStrictEqual([...new Set(other.asked.map(({ path }) => path.split("?")[0]))], ["/linked"])
      assert.isEmpty(other.asked.filter(({ headers }) => headers.authorization !== undefined))
      for (const secret of spellings(token)) assert.notInclude(JSON.stringify(other.asked), secret)
    } finally {
      service.close()
      other.close()
    }
  })

  it("that is refused is not said in the reason", async () => {
    const service = await hostileService(({ headers }) => ({
      status: 401,
      body: { message: `Invalid JWT: ${headers.authorization}` }
    }))
    try {
      const ran = await sluice(["sync"], service.environment)
      assert.strictEqual(ran.code, 77)
      assert.match(ran.stderr, /Invalid JWT: Bearer <redacted>/)
      assert.deepStrictEqual(holding(service.folder, token), [])
      assert.notInclude(ran.stdout + ran.stderr, token)
    } finally {
      service.close()
    }
  })
})

describe("OAuth", () => {
  const given = { client: "client-secret-0815/x", refresh: "refresh-0-4711-abcdef" }
  const issued = (n: number) => ({ access_token: `access-${n}-abcdefgh`, refresh_token: `refresh-${n}-abcdefgh` })

  it("neither client secret nor any token stands anywhere but in tokens.json, old ones nowhere", async () => {
    let renewals = 0
    const sent: Array<string> = []
    const service = await hostileService(({ path, headers, body }) => {
      if (path === "/oauth/token") {
        sent.push(body)
        return { body: { ...issued(++renewals), expires_in: 86_399, echo: body } }
      }
      // The first access token is refused after a while; everything ever sent is said back.
      if (headers.authorization === "Bearer access-1-abcdefgh" && path === "/contacts/search")
        return { status: 401, body: { message: `Invalid JWT ${headers.authorization} ${sent.join(" ")}` } }
      if (path === "/contacts/search")
        return {
          body: { contacts: [{ id: "c1", firstName: `${headers.authorization} access-1-abcdefgh`, source: sent }] }
        }
      return path.startsWith("/workflows/") ? { status: 400, body: { message: sent.join(" ") } } : undefined
    })
    try {
      const environment: Record<string, string> = {
        ...service.environment,
        ...allFormats,
        SLUICE_TOKEN: "",
        SLUICE_CLIENT_ID: "client-id",
        SLUICE_CLIENT_SECRET: `cmd:cat ${secretFile(given.client)}`,
        SLUICE_REFRESH_TOKEN: `file:${secretFile(given.refresh)}`
      }
      const running = start(["sync", "--only", "contacts,workflows"], environment)
      const seen = argumentsWhile(running)
      const ran = await running.ended
      assert.strictEqual(ran.code, 3, ran.stderr)
      assert.strictEqual(renewals, 2)
      const secrets = [given.client, given.refresh, ...Object.values(issued(1)), ...Object.values(issued(2))]
      for (const secret of secrets.flatMap(spellings)) {
        for (const text of [ran.stdout, ran.stderr, ...seen]) assert.notInclude(text, secret)
        const where = holding(service.folder, secret).map((path) => basename(path))
        assert.deepStrictEqual(where, Object.values(issued(2)).includes(secret) ? ["tokens.json"] : [], secret)
      }
      assert.match(ran.stderr, /workflows: .*client_secret=<redacted>/)
    } finally {
      service.close()
    }
  })
})

/** Whatever stands in the folder in the course of a run. */
const kinds = [
  /^warehouse\.duckdb$/,
  /^(warehouse|rebuilt)\.duckdb\.wal$/,
  /^(warehouse|rebuilt)\.duckdb\.tmp\/./,
  /^tokens\.json$/,
  /^tmp\/\d\/.*\.ndjson$/,
  /^vault\/\d+\.ndjson\.zst\.part$/,
  /^files\/recordings\/.*\.wav$/,
  /crm\.duckdb$/,
  /\.parquet$/,
  /\.csv$/,
  /manifest\.json$/
]

describe("every file and folder is the owner's alone", () => {
  it("at any instant of a run, with an open umask: what is published, kept, half written or spilled", async () => {
    const account = await openAccount("--contacts", "25000", "--messages", "500")
    const config = join(newFolder(), "config.toml")
    writeFileSync(config, "[machine]\nmemory_mb = 96\n")
    try {
      const { clientId, clientSecret, refreshToken } = account.service
      const environment: Record<string, string> = {
        ...account.environment,
        ...allFormats,
        SLUICE_TOKEN: "",
        SLUICE_CLIENT_ID: clientId,
        SLUICE_CLIENT_SECRET: clientSecret,
        SLUICE_REFRESH_TOKEN: refreshToken
      }
      const modes = new Map<string, string>()
      const look = () => {
        for (const path of below(account.output))
          try {
            const stat = lstatSync(path)
            modes.set(path, `${stat.isDirectory() ? "folder" : "file"} ${(stat.mode & 0o777).toString(8)}`)
            if (!/ (600|700)$/.test(modes.get(path)!)) open.add(`${path}: ${modes.get(path)}`)
          } catch {
            // It was there for a moment only.
          }
      }
      const open = new Set<string>()
      const timer = setInterval(() => {
        try {
          look()
        } catch {
          // A folder went while it was being listed.
        }
      }, 5)
      // So little that DuckDB spills.
      await sluice(["sync", "--only", "contacts", "--config", config], environment)
      const ran = await sluice(["sync", "--only", "contacts,messages,recordings"], environment)
      assert.strictEqual(ran.code, 0, ran.stderr)
      const missing = () => {
        const seen = [...modes.keys()].map((path) => path.slice(account.output.length + 1))
        return kinds.filter((kind) => !seen.some((path) => kind.test(path))).map(String)
      }
      // Some are there for a moment only: then once more.
      for (let again = 0; again < 3 && missing().length > 0; again++)
        assert.strictEqual((await sluice(["rebuild", "--config", config], environment)).code, 0)
      clearInterval(timer)
      look()
      assert.deepStrictEqual([...open], [])
      assert.deepStrictEqual([...new Set(modes.values())].sort(), ["file 600", "folder 700"])
      assert.deepStrictEqual(missing(), [])
    } finally {
      account.service.stop()
    }
  }, 300_000)
})
