/** The explorer over HTTP: who may use it, what runs, and how every answer is bounded. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { parquetReadObjects } from "hyparquet"
import { compressors } from "hyparquet-compressors"
import { readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Database, DatabaseError } from "../../src/features/explore/database.ts"
import { type Account, discard, openSynced } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { type Client, openExplorer, rawStatus } from "./client.ts"

const { labelOf } = await import(new URL("../../src/features/explore/page/data.js", import.meta.url).href)

let account: Account
let client: Client
beforeAll(async () => {
  account = await openSynced({
    tables: "contacts,opportunities",
    flags: ["--contacts", "150", "--world", "nasty"],
    formats: "duckdb"
  })
  client = await openExplorer(account.output)
})
afterAll(async () => {
  await client.explorer.close()
  discard(account)
})

describe("access", () => {
  it("needs the token, once in the address and then in the cookie", async () => {
    const { explorer, origin, cookie } = client
    const { port } = explorer
    const host = `127.0.0.1:${port}`
    assert.strictEqual(await rawStatus(port, "/", { host }), 401)
    assert.strictEqual(await rawStatus(port, "/?token=wrong", { host }), 401)
    assert.strictEqual(await rawStatus(port, "/", { host, cookie: `${cookie}x` }), 401)
    assert.strictEqual(await rawStatus(port, "/api/catalog", { host }), 401)
    assert.strictEqual(await rawStatus(port, "/page/main.js", { host }), 401)
    assert.strictEqual(await rawStatus(port, "/", { host, cookie }), 200)
    const opened = await fetch(explorer.url, { redirect: "manual" })
    assert.strictEqual(opened.headers.get("location"), "/")
    assert.match(opened.headers.get("set-cookie")!, /; HttpOnly; SameSite=Strict$/)
    const once = explorer.singleUseUrl()
    assert.strictEqual((await fetch(once, { redirect: "manual" })).status, 303)
    assert.strictEqual((await fetch(once, { redirect: "manual" })).status, 401)
    assert.notInclude(await (await fetch(origin, { headers: { cookie } })).text(), cookie.split("=")[1]!)
  })

  it("refuses other names of this machine and requests of other pages", async () => {
    const { cookie, origin, explorer } = client
    const { port } = explorer
    const host = `127.0.0.1:${port}`
    assert.strictEqual(await rawStatus(port, "/", { host: `attacker.example:${port}`, cookie }), 403)
    assert.strictEqual(
      await rawStatus(port, `/${new URL(explorer.url).search}`, { host: `attacker.example:${port}` }),
      403
    )
    assert.strictEqual(await rawStatus(port, "/api/catalog", { host, cookie, origin: "http://attacker.example" }), 403)
    assert.strictEqual(await rawStatus(port, "/api/query", { host, cookie }, "POST"), 403)
    assert.strictEqual(await rawStatus(port, "/api/query", { host, cookie, origin: "null" }, "POST"), 403)
    assert.strictEqual(await rawStatus(port, "/api/query", { host, cookie, origin }, "POST"), 400)
  })

  it("serves a fixed list of files, which import nothing else", async () => {
    const { cookie, origin, explorer } = client
    const read = async (path: string) => {
      const response = await fetch(origin + path, { headers: { cookie } })
      assert.strictEqual(response.status, 200, path)
      return response.text()
    }
    const page = await read("/")
    const { imports } = JSON.parse(/\{"imports".*\}\}/.exec(page)![0]) as { imports: Record<string, string> }
    const seen = new Set<string>()
    const left = ["/page/main.js"]
    for (let path = left.pop(); path !== undefined; path = left.pop()) {
      if (seen.has(path)) continue
      seen.add(path)
      const named = /(?:^(?:import|export)\s[^"'=;]*?from\s*|\bimport\()["']([^"']+)["']/gm
      for (const [, name] of (await read(path)).matchAll(named)) {
        const next = name!.startsWith("./") ? `/page/${name!.slice(2)}` : imports[name!]
        assert.isDefined(next, `${path} imports ${name}`)
        left.push(next!)
      }
    }
    assert.isAbove(seen.size, 30)
    const host = `127.0.0.1:${explorer.port}`
    for (const path of [
      "/page/../server.ts",
      "/page/%2e%2e/server.ts",
      "/page/..%2fserver.ts",
      "/packages/../package.json",
      "/packages/effect.js",
      "/package.json",
      "//etc/passwd",
      "/page/",
      "/page/main.js/..%00"
    ])
      assert.strictEqual(await rawStatus(explorer.port, path, { host, cookie }), 404, path)
  })
})

describe("queries", () => {
  it("return the rows of the published file, and name the release", async () => {
    const { status, body } = await client.query("SELECT id, name FROM contacts ORDER BY id;  -- all of them")
    assert.strictEqual(status, 200)
    const expected = await query(account.warehouse, "SELECT id, name FROM crm.contacts ORDER BY id")
    assert.deepStrictEqual(
      body.rows,
      expected.map(({ id, name }) => [id, name])
    )
    assert.match(body.release.id, /^000001-/)
    const { body: catalog } = await client.get("/api/catalog")
    const contacts = catalog.tables.find(
      (table: { name: string; schema: string }) => table.name === "contacts" && table.schema === "main"
    )
    assert.strictEqual(contacts.rows, expected.length)
    assert.isNotEmpty(contacts.comment)
    assert.isNotEmpty(contacts.columns.find((column: { name: string }) => column.name === "email").comment)
  })

  it("say what identifies their rows, and to which rows these refer", async () => {
    const { body } = await client.get("/api/catalog")
    const of = (schema: string, name: string) =>
      body.tables.find((table: { name: string; schema: string }) => table.name === name && table.schema === schema)
    const target = (schema: string, name: string, column: string) =>
      of(schema, name).columns.find((one: { name: string }) => one.name === column).refersTo
    const contact = { schema: "main", table: "contacts", column: "id" }
    for (const [schema, name] of [
      ["main", "messages"],
      ["main", "opportunities_wide"],
      ["main", "contact_tags"],
      ["crm_history", "opportunities"],
      ["bi", "stg_opportunities"]
    ] as const)
      assert.deepStrictEqual(target(schema, name, "contact_id"), contact, `${schema}.${name}`)
    for (const [schema, name] of [
      ["crm_history", "contacts"],
      ["main", "contacts_changes"],
      ["bi", "stg_contacts"]
    ] as const)
      assert.deepStrictEqual(target(schema, name, "id"), contact, `${schema}.${name}`)
    assert.isUndefined(target("main", "contacts", "id"))
    // A deal has the pipeline, too, with which a stage is identified.
    const stage = { schema: "main", table: "pipeline_stages", column: "id" }
    assert.deepStrictEqual(target("main", "opportunities", "pipeline_stage_id"), stage)
    assert.deepStrictEqual(of("main", "contacts").key, ["location_id", "id"])
    assert.deepStrictEqual(of("main", "contact_tags").key, ["location_id", "contact_id", "tag"])
    assert.strictEqual(labelOf(of("main", "conversations")).name, "full_name")
    assert.isUndefined(labelOf(of("main", "contact_tags")))
    assert.strictEqual(labelOf(of("bi", "dim_pipeline_stage")).name, "pipeline_stage_name")
    const subjectOf = (name: string) => of("bi", name).subject
    assert.strictEqual(subjectOf("fct_order_line"), "payments")
    assert.strictEqual(subjectOf("fct_conversation_reply"), "conversations")
    assert.strictEqual(subjectOf("fct_opportunity_stage_change"), "crm")
    assert.strictEqual(subjectOf("fct_daily_change"), "meta")
    // Models, according to their tests for dbt.
    assert.deepStrictEqual(of("bi", "dim_contact").key, ["location_id", "contact_id"])
    assert.deepStrictEqual(target("bi", "fct_opportunity", "contact_id"), {
      schema: "bi",
      table: "dim_contact",
      column: "contact_id"
    })
  })

  it("show at most 1,000 rows, and the beginning of long values", async () => {
    const { body } = await client.query("SELECT range AS n, repeat('x', 5000) AS long FROM range(1000000)")
    assert.strictEqual(body.rows.length, 1000)
    assert.isTrue(body.isCut)
    assert.strictEqual(body.cutCells, 1000)
    assert.strictEqual(body.rows[0][1].length, 2001)
    const { body: exact } = await client.query("FROM range(1000)")
    assert.isFalse(exact.isCut)
  })

  it.each([
    "COPY contacts TO '/tmp/sluice-explore-copy.csv'",
    "ATTACH '/tmp/sluice-explore-attach.duckdb'",
    "INSTALL httpfs",
    "LOAD json",
    "SET memory_limit = '100GB'",
    "RESET threads",
    "PRAGMA database_list",
    "DELETE FROM contacts",
    "CREATE TABLE copied AS FROM contacts",
    "CREATE TEMP TABLE copied AS FROM contacts",
    "EXPLAIN ANALYZE CREATE TEMP TABLE copied AS FROM contacts",
    "EXPORT DATABASE '/tmp/sluice-explore-export'",
    "CALL enable_logging()",
    "CHECKPOINT",
    "SELECT 1; DROP TABLE contacts",
    "",
    "-- nothing",
    "SELECT * FROM enable_logging(storage_path := '/tmp/sluice-explore-log')",
    "SELECT write_log('a line')",
    "SELECT (SELECT count(*) FROM query('FROM enable_logging()'))",
    "WITH a AS (FROM checkpoint()) FROM a",
    "EXPLAIN COPY contacts TO '/tmp/sluice-explore-copy.csv'",
    "EXPLAIN ANALYZE COPY contacts TO '/tmp/sluice-explore-copy.csv'",
    "/**/ explain -- a\n analyze COPY contacts TO '/tmp/sluice-explore-copy.csv'",
    "EXPLAIN ANALYZE INSERT INTO contacts SELECT * FROM contacts",
    "EXPLAIN ANALYZE SELECT 1; DROP TABLE contacts",
    "EXPLAIN EXPLAIN ANALYZE DELETE FROM contacts",
    "EXPLAIN ANALYZE SELECT write_log('a line')",
    "EXPLAIN ANALYZE FROM enable_logging(storage_path := '/tmp/sluice-explore-log')",
    "EXPLAIN",
    "CREATE TEMP TYPE mood AS ENUM (SELECT 'a'); SELECT 1",
    "CREATE TEMP TYPE mood AS ENUM (SELECT status FROM opportunities)",
    "PIVOT contacts ON type USING count(*); CREATE TEMP TYPE mood AS ENUM ('a')",
    "PIVOT (SELECT write_log('a line') AS a) ON a USING count(*)",
    "PIVOT contacts ON write_log(name) USING count(*)",
    "PIVOT (FROM enable_logging(storage_path := '/tmp/sluice-explore-log')) ON a USING count(*)",
    "WITH a AS (FROM checkpoint()) PIVOT a ON b USING count(*)",
    "PIVOT range(1000) ON range USING count(*)",
    "SELECT * FROM (PIVOT contacts ON type USING count(*))"
  ])("refuse %j", async (sql) => {
    const { status, body } = await client.query(sql)
    assert.strictEqual(status, 403, JSON.stringify(body))
    assert.strictEqual(body.error.code, "refused")
    assert.deepStrictEqual(
      readdirSync("/tmp").filter((name) => /^sluice-explore-(copy|attach|export|log)/.test(name)),
      []
    )
  })

  it.each([
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM '/etc/passwd.csv'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT content FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM 'https://example.com/a.parquet'"
  ])("read no other file: %j", async (sql) => {
    const { status, body } = await client.query(sql)
    assert.oneOf(status, [400, 403])
    assert.match(body.error.message, /Permission Error|cannot be used here|does not exist/)
    assert.notInclude(JSON.stringify(body), "root:")
    const file = await client.download(sql, "csv")
    assert.oneOf(file.status, [400, 403])
  })

  it("may be a plan, or a PIVOT that names its values", async () => {
    const pivots = [
      "WITH deals AS (FROM opportunities) PIVOT deals ON lower(status) IN ('lost', 'open', 'won') USING count(*) GROUP BY location_id -- end",
      "PIVOT opportunities ON status IN ('lost', 'open', 'won') USING count(*) GROUP BY location_id;"
    ]
    const counts = await query(account.warehouse, "SELECT status, count(*) AS n FROM crm.opportunities GROUP BY ALL")
    const expected = new Map(counts.map(({ status, n }) => [String(status), String(n)]))
    for (const sql of pivots) {
      const { status, body } = await client.query(sql)
      assert.strictEqual(status, 200, JSON.stringify(body))
      const names: ReadonlyArray<string> = body.columns.map(({ name }: { name: string }) => name)
      for (const name of ["lost", "open", "won"])
        assert.strictEqual(body.rows[0][names.indexOf(name)], expected.get(name), `${name} of ${sql}`)
      assert.deepStrictEqual(body.tables, ["opportunities"])
    }
    // DuckDB would make a type of its values.
    const unnamed = await client.query("PIVOT opportunities ON status USING count(*)")
    assert.strictEqual(unnamed.status, 403)
    assert.match(unnamed.body.error.message, /A PIVOT names its values: ON column IN/)
    for (const sql of [
      "EXPLAIN FROM contacts",
      "/* why */ explain -- slow\n analyze FROM contacts",
      `EXPLAIN ${pivots[0]}`
    ]) {
      const { status, body } = await client.query(sql)
      assert.strictEqual(status, 200, JSON.stringify(body))
      assert.match(body.rows[0][1], /SEQ_SCAN|TABLE_SCAN/)
      assert.strictEqual((await client.download(sql, "csv")).status, 403)
    }
    const file = await client.download(pivots[0]!, "csv")
    assert.match(await file.text(), /^location_id,.*\blost\b/)
    const wrong = await client.query("EXPLAIN\nSELECT emial FROM contacts")
    assert.match(wrong.body.error.message, /LINE 2: SELECT emial/)
  })

  it("are what was checked, also where a comment hides a part of it", async () => {
    // DuckDB knows comments in comments, and would run PRAGMA.
    const { status, body } = await client.query("/* /* */ explain SELECT 1 */ pragma enable_logging")
    assert.notStrictEqual(status, 200, JSON.stringify(body))
    assert.deepStrictEqual((await client.query("SELECT current_setting('enable_logging')")).body.rows, [["0"]])
  })

  it("show DuckDB's message with the place", async () => {
    const { status, body } = await client.query("SELECT id,\n  emial\nFROM contacts")
    assert.strictEqual(status, 400)
    assert.match(body.error.message, /Candidate bindings: "email".*LINE 2: {3}emial\n {10}\^/s)
  })

  it("stop when the browser goes away, so that others can run", { timeout: 20_000 }, async () => {
    const endless = "SELECT count(*) FROM range(1000000000000) AS a, range(1000000) AS b"
    for (let round = 0; round < 2; round++) {
      const stopped = new AbortController()
      // One is refused, and sent again, while the queries of the round before are being stopped.
      const running = Array.from({ length: 4 }, async () => {
        let answer = await client.query(endless, stopped.signal).catch((error: Error) => error.name)
        while (typeof answer !== "string" && answer.status === 503)
          answer = await client.query(endless, stopped.signal).catch((error: Error) => error.name)
        return answer
      })
      // They have begun when the next one is refused.
      let next = await client.query("SELECT 1")
      for (; next.status === 200; next = await client.query("SELECT 1"))
        await new Promise((resolve) => setTimeout(resolve, 50))
      assert.strictEqual(next.status, 503)
      assert.match(next.body.error.message, /^4 queries are running/)
      stopped.abort()
      assert.deepStrictEqual(await Promise.all(running), Array(4).fill("AbortError"))
      while ((await client.query("SELECT 1")).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })

  it("end after their time", { timeout: 20_000 }, async () => {
    const path = join(account.output, "published/crm.duckdb")
    const database = new Database({ path, memoryMb: 128, queryMs: 500 })
    const { signal } = new AbortController()
    const error = await database
      .query("SELECT sum(a.range * b.range) FROM range(1000000000) AS a, range(1000000) AS b", signal)
      .catch((cause: Error) => cause)
    assert.instanceOf(error, DatabaseError)
    assert.strictEqual(error.code, "time")
    assert.strictEqual(error.message, "The query took longer than 0.5 seconds.")
    // The process may have to start again, which may take longer than this limit.
    const next = (): Promise<number> => database.query("SELECT 1", signal).then(({ rows }) => rows.length, next)
    assert.strictEqual(await next(), 1)
    database.close()
  })

  it("that take too much memory end, and the next one runs", { timeout: 30_000 }, async () => {
    const { status, body } = await client.query("SELECT repeat('x', 1000000) FROM range(100000)")
    assert.strictEqual(status, 507)
    assert.strictEqual(body.error.message, "The query takes more than 628 MB of memory. Read fewer rows or columns.")
    const counted = await client.query("SELECT list(range) FROM range(1000000000)")
    assert.strictEqual(counted.status, 507)
    assert.match(counted.body.error.message, /^The query takes more than 128 MB of memory.*machine\.memory_mb/)
    assert.notMatch(counted.body.error.message, /in-memory|temp_directory|PRAGMA|SET /)
    assert.strictEqual((await client.query("SELECT 1")).status, 200)
  })

  it("refuse a text of more than 100,000 bytes", async () => {
    const { body, status } = await client.query(`SELECT '${"x".repeat(100_000)}'`)
    assert.deepStrictEqual([status, body.error.message], [400, "A query has at most 100,000 bytes."])
    assert.strictEqual((await client.query(`SELECT ${"(".repeat(20_000)}1${")".repeat(20_000)}`)).status, 400)
  })
})

describe("downloads", () => {
  const expectedIds = async () =>
    (await query(account.warehouse, "SELECT id FROM crm.contacts ORDER BY id")).map(({ id }) => id)

  it("are CSV and Parquet with all rows", async () => {
    const csv = await client.download("SELECT id, name FROM contacts ORDER BY id; -- end", "csv")
    assert.strictEqual(csv.headers.get("content-disposition"), 'attachment; filename="result.csv"')
    const rows: ReadonlyArray<{ id: string }> = parse(await csv.text(), { columns: true })
    assert.deepStrictEqual(
      rows.map(({ id }) => id),
      await expectedIds()
    )
    const parquet = await client.download("SELECT id, date_added FROM contacts ORDER BY id", "parquet")
    const objects = await parquetReadObjects({ file: await parquet.arrayBuffer(), compressors })
    assert.deepStrictEqual(
      objects.map(({ id }) => id),
      await expectedIds()
    )
    assert.instanceOf(objects[0]!["date_added"], Date)
  })

  it("of more than 1,000,000 rows are refused with the reason", async () => {
    const refused = await client.download("FROM range(1000001)", "csv")
    assert.strictEqual(refused.status, 403)
    assert.match(
      ((await refused.json()) as { error: { message: string } }).error.message,
      /^The result has more than 1,000,000 rows\. Add a LIMIT/
    )
  })

  it("leave no file behind, and refuse other formats", async () => {
    assert.strictEqual((await client.download("SELECT 1", "html")).status, 400)
    const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith("sluice-explore-"))
    const before = new Set(folders())
    const stopped = new AbortController()
    const running = client
      .download("FROM range(100000000000)", "csv", stopped.signal)
      .catch((error: Error) => error.name)
    while (folders().every((name) => before.has(name))) await new Promise((resolve) => setTimeout(resolve, 20))
    stopped.abort()
    assert.strictEqual(await running, "AbortError")
    const response = await client.download("SELECT 1", "csv")
    assert.strictEqual(await response.text(), "1\n1\n")
    // The folder is removed when the answer has been sent.
    for (let left = 100; left > 0 && folders().some((name) => !before.has(name)); left--)
      await new Promise((resolve) => setTimeout(resolve, 20))
    assert.deepStrictEqual(
      folders().filter((name) => !before.has(name)),
      []
    )
  })
})
