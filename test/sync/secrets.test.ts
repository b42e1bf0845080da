/** The secrets must not leak, even if the service echoes them. A token is given in each form that the settings accept. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { acceleratedClock } from "../support/clock.ts"
import { query } from "../support/compare.ts"
import { holding } from "../support/holding.ts"
import { type ReceivedRequest, type Reply, hostileService, token } from "../support/hostile.ts"
import { type Ran, newFolder, sluice } from "../support/sluice.ts"

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

const secretFile = (text: string) => {
  const path = join(newFolder(), "secret")
  writeFileSync(path, `${text}\n`, { mode: 0o600 })
  return path
}
const spellings = (secret: string) => [secret, encodeURIComponent(secret), secret.replaceAll("/", "\\/")]

/** The search for secrets has found the text that replaces them, in each kind of file that stores the contact. */
const assertSearched = (paths: ReadonlyArray<string>, published: boolean) => {
  const kinds = [/\/warehouse\.duckdb$/, /\/vault\/.*\.ndjson\.zst$/]
  const ofFormats = [/\/crm\.duckdb$/, /\/contacts.*\.parquet$/, /\/contacts.*\.csv$/]
  for (const kind of published ? [...kinds, ...ofFormats] : kinds)
    assert.isTrue(
      paths.some((path) => kind.test(path)),
      `${kind} is not among ${paths.join(", ")}`
    )
}

const everyCommand = [
  ["status"],
  ["rebuild"],
  ["verify", "--json"],
  ["sync", "--only", "users,workflows,calendars", "--json"]
]

describe("the token", () => {
  it.each([
    // After it is read, the form in which a token was given makes no difference: only one goes through all commands and formats.
    ["itself", (path: string) => readFileSync(path, "utf8").trim(), `${lists},recordings`],
    ["a file", (path: string) => `file:${path}`, lists],
    ["a command", (path: string) => `cmd:cat ${path}`, lists]
  ])(
    "given as %s is in no output and in no file, although the service echoes it",
    { tags: ["slow"] },
    async (kind, reference, only) => {
      const other = await hostileService(() => ({ body: { stolen: true } }))
      const service = await hostileService(echoing(other.url))
      try {
        const formats = kind === "itself" ? allFormats : {}
        const environment = { ...service.environment, ...formats, SLUICE_TOKEN: reference(secretFile(token)) }
        const ran = await sluice(["sync", "--only", only], environment, { overrides: acceleratedClock() })
        assert.strictEqual(ran.code, 77, ran.stderr)
        const commands = kind === "itself" ? everyCommand : [["status"]]
        const more: Array<Ran> = []
        for (const command of commands) more.push(await sluice(command, environment, { overrides: acceleratedClock() }))
        const said = [ran, ...more].flatMap(({ stdout, stderr }) => [stdout, stderr])
        const filesWith = await holding(service.folder)
        for (const secret of spellings(token)) {
          for (const text of said) assert.notInclude(text, secret)
          assert.deepStrictEqual(filesWith(secret), [])
        }
        assertSearched(filesWith("Bearer <redacted>"), kind === "itself")
        // The service did receive the token and echo it.
        assert.isAbove(service.requests.filter(({ headers }) => headers.authorization === `Bearer ${token}`).length, 8)
        assert.match(ran.stderr, /users: .*422 bad header,Bearer <redacted>/)
        assert.match(ran.stderr, /workflows: .*The token <redacted> is not authorized/)
        if (only.endsWith("recordings"))
          assert.match(ran.stderr, /recordings: failed requests: 1.*contains the credentials/)
        const [row] = await query(join(service.folder, "warehouse.duckdb"), "SELECT first_name FROM crm.contacts")
        assert.deepStrictEqual(row, { first_name: "Bearer <redacted>" })
        // Redirects are not followed; the content that a template links to is fetched without credentials.
        assert.deepStrictEqual([...new Set(other.requests.map(({ path }) => path.split("?")[0]))], ["/linked"])
        assert.isEmpty(other.requests.filter(({ headers }) => headers.authorization !== undefined))
        for (const secret of spellings(token)) assert.notInclude(JSON.stringify(other.requests), secret)
      } finally {
        service.close()
        other.close()
      }
    }
  )

  it("is redacted in the reason when the service refuses it", async () => {
    const service = await hostileService(({ headers }) => ({
      status: 401,
      body: { message: `Invalid JWT: ${headers.authorization}` }
    }))
    try {
      const ran = await sluice(["sync"], service.environment)
      assert.strictEqual(ran.code, 77)
      assert.match(ran.stderr, /Invalid JWT: Bearer <redacted>/)
      assert.deepStrictEqual((await holding(service.folder))(token), [])
      assert.notInclude(ran.stdout + ran.stderr, token)
    } finally {
      service.close()
    }
  })
})

describe("OAuth", () => {
  const given = { client: "client-secret-0815/x", refresh: "refresh-0-4711-abcdef" }
  const issued = (n: number) => ({ access_token: `access-${n}-abcdefgh`, refresh_token: `refresh-${n}-abcdefgh` })

  it(
    "the current tokens are in tokens.json only; no other file and no output contains a secret",
    { tags: ["slow"] },
    async () => {
      let renewals = 0
      const sent: Array<string> = []
      const service = await hostileService(({ path, headers, body }) => {
        if (path === "/oauth/token") {
          sent.push(body)
          return { body: { ...issued(++renewals), expires_in: 86_399, echo: body } }
        }
        // The service refuses the first access token and echoes everything that it received.
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
        const ran = await sluice(["sync", "--only", "contacts,workflows"], environment)
        assert.strictEqual(ran.code, 3, ran.stderr)
        assert.strictEqual(renewals, 2)
        const secrets = [given.client, given.refresh, ...Object.values(issued(1)), ...Object.values(issued(2))]
        const filesWith = await holding(service.folder)
        for (const secret of secrets.flatMap(spellings)) {
          for (const text of [ran.stdout, ran.stderr]) assert.notInclude(text, secret)
          const where = filesWith(secret).map((path) => basename(path))
          assert.deepStrictEqual(where, Object.values(issued(2)).includes(secret) ? ["tokens.json"] : [], secret)
        }
        assertSearched(filesWith("Bearer <redacted>"), true)
        assert.match(ran.stderr, /workflows: .*client_secret=<redacted>/)
      } finally {
        service.close()
      }
    }
  )
})
