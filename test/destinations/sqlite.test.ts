/** A SQLite file as destination, read by SQLite itself. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { DuckDBInstance } from "@duckdb/node-api"
import { Effect } from "effect"
import { makeFile } from "../../src/destinations/sqlite/make.ts"
import type { PreviousRelease } from "../../src/stages/publish/manifest.ts"
import { type Account, discard, openSynced } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { knowing, newFolder, ofPeople, sluice } from "../support/sluice.ts"

const tables = "locations,contacts,opportunities,pipelines,custom_fields"

describe("a SQLite file", () => {
  let account: Account
  const folder = newFolder()
  // Neither folder exists before the first delivery.
  const path = join(folder, "made", "here", "crm.sqlite")
  const config = join(folder, "sluice.toml")
  const run = (...args: ReadonlyArray<string>) => sluice([...args, "--config", config], environment)
  let environment: Account["environment"]
  const published = () => join(account.output, "published", "crm.duckdb")
  const inFile = <A>(use: (database: DatabaseSync) => A, file = path): A => {
    const database = new DatabaseSync(file)
    try {
      return use(database)
    } finally {
      database.close()
    }
  }
  const ask = (sql: string, file?: string) => inFile((database) => database.prepare(sql).all(), file)

  beforeAll(async () => {
    account = await openSynced({ tables, formats: "duckdb" })
    environment = account.environment
    writeFileSync(config, `[[publish]]\nname = "file"\nsqlite = "made/here/crm.sqlite"\nprofile = "raw"\n`)
    const { code, stderr } = await run("publish")
    assert.strictEqual(code, 0, stderr)
  })
  afterAll(() => {
    discard(account)
    rmSync(folder, { recursive: true })
  })

  it("has the rows and values of the release, for its owner only", async () => {
    const tables = await query(
      published(),
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY ALL"
    )
    assert.isAbove(tables.length, 10)
    const counts = tables.map(({ name }) => `SELECT '${name}' AS name, count(*) AS n FROM "${name}"`)
    const held = new Map(counts.map((sql) => Object.values(ask(sql)[0]!).map(String) as [string, string]))
    for (const { name, n } of await query(published(), counts.join(" UNION ALL ")))
      assert.strictEqual(held.get(String(name)), n, String(name))
    const values = `SELECT id, contact_id, CAST(round(monetary_value * 100) AS BIGINT) AS cents, status FROM opportunities ORDER BY id`
    const there = ask(values).map((row) => Object.values(row).map((value) => (value === null ? null : String(value))))
    const here = (await query(published(), values)).map((row) => Object.values(row))
    assert.isAbove(here.length, 20)
    assert.deepStrictEqual(there, here)
    const [time] = ask(
      "SELECT count(*) AS n, count(datetime(date_added)) AS times FROM contacts WHERE date_added IS NOT NULL"
    )
    assert.isAbove(Number(time!["n"]), 100)
    assert.strictEqual(time!["n"], time!["times"], "SQLite reads its times")
    assert.strictEqual(statSync(path).mode & 0o077, 0)
    assert.deepStrictEqual(readdirSync(dirname(path)), ["crm.sqlite"])
  })

  it("has the models", () => {
    assert.isAbove(Number(ask("SELECT count(*) AS n FROM dim_contact")[0]!["n"]), 100)
    // The next tests publish often: without models, and without the tables that only models need.
    writeFileSync(config, `${readFileSync(config, "utf8")}[models]\nbuild = false\n`)
    environment = { ...account.environment, ...knowing(`${tables},${ofPeople}`) }
  })

  it("stays as it is while the release does, and is replaced with it", { tags: ["slow"] }, async () => {
    assert.strictEqual((await run("publish")).code, 0)
    const before = statSync(path).ino
    assert.strictEqual((await run("publish")).code, 0)
    assert.strictEqual(statSync(path).ino, before)
    await account.service.post("change", { contacts: 0.2, seed: 2 })
    const { code, stderr } = await run("sync", ...account.selection)
    assert.strictEqual(code, 0, stderr)
    assert.notStrictEqual(statSync(path).ino, before)
    const verified = await run("verify")
    assert.strictEqual(verified.code, 0, verified.stdout)
    assert.match(verified.stdout, /sqlite file +\d+ tables, [\d,]+ rows, compared with the release/)
  })

  it("never meets what another program left in the log of the old file", { tags: ["slow"] }, async () => {
    const sides = ["-wal", "-shm", "-journal"].map((end) => path + end)
    // A program that was killed leaves the log of its last writes, which SQLite replays when it next opens the file.
    const killed = join(folder, "killed")
    inFile((database) => {
      database.exec("PRAGMA journal_mode = WAL; UPDATE contacts SET email = 'stale'")
      copyFileSync(path, killed)
      copyFileSync(`${path}-wal`, `${killed}-wal`)
    })
    copyFileSync(killed, path)
    copyFileSync(`${killed}-wal`, `${path}-wal`)
    writeFileSync(`${path}-journal`, "")
    assert.strictEqual((await run("publish", "--full")).code, 0)
    assert.deepStrictEqual(sides.filter(existsSync), [])
    assert.deepStrictEqual(ask("SELECT count(*) AS n FROM contacts WHERE email = 'stale'"), [{ n: 0 }] as never)
    for (const file of [killed, `${killed}-wal`]) rmSync(file)
  })

  it(
    "is compared value by value: verify names the table that another program has changed",
    { tags: ["slow"] },
    async () => {
      const copy = join(folder, "kept")
      copyFileSync(path, copy)
      inFile((database) => database.exec("UPDATE contacts SET email = 'x' WHERE id = (SELECT min(id) FROM contacts)"))
      const { code, stderr } = await run("verify")
      assert.strictEqual(code, 1)
      assert.match(stderr, /contacts: 1\d+ rows of \d+, 1 of the release are missing or have other values/)
      inFile((database) => database.exec("DELETE FROM pipelines"))
      assert.match((await run("verify")).stderr, /pipelines.*: 0 rows of \d+/)
      const repaired = await run("publish", "--full")
      assert.strictEqual(repaired.code, 0, repaired.stderr)
      assert.strictEqual((await run("verify")).code, 0)
      rmSync(copy)
    }
  )

  it("has a model that is named as a table, by another name, and says so", { tags: ["slow"] }, async () => {
    const own = join(folder, "own")
    mkdirSync(own, { recursive: true })
    for (const [name, sql] of [
      ["contacts", "SELECT count(*) AS n FROM {{ source('crm', 'contacts') }}"],
      ["pipelines", "SELECT 7 AS seven"]
    ] as const)
      writeFileSync(join(own, `${name}.sql`), sql)
    const before = readFileSync(config, "utf8")
    writeFileSync(config, `${before.replace("[models]\nbuild = false\n", "")}[models]\nfolder = "${own}"\n`)
    for (let time = 0; time < 2; time++) {
      const { code, stderr } = await run("publish", ...(time === 0 ? [] : ["--full"]))
      // The models of sluice may lack the tables that this test leaves out.
      assert.include([0, 3], code, stderr)
      assert.include(stderr, "the model contacts is bi_contacts, because contacts is another table")
      assert.deepStrictEqual(ask("SELECT seven FROM bi_pipelines"), [{ seven: 7 }] as never)
      assert.strictEqual(ask("SELECT n FROM bi_contacts")[0]!["n"], ask("SELECT count(*) AS n FROM contacts")[0]!["n"])
      assert.match((await run("verify")).stdout, /sqlite file +\d+ tables, [\d,]+ rows, compared with the release/)
    }
    writeFileSync(config, before)
    assert.strictEqual((await run("publish")).code, 0)
  })

  it("is never a file that another program or another output folder has made", { tags: ["slow"] }, async () => {
    const kept = readFileSync(path)
    for (const [content, why] of [
      [Buffer.from("a letter"), /sluice did not create it/],
      [Buffer.alloc(0), /sluice did not create it/]
    ] as const) {
      writeFileSync(path, content)
      const { code, stderr } = await run("publish")
      assert.strictEqual(code, 1)
      assert.match(stderr, why)
      assert.isTrue(readFileSync(path).equals(content))
    }
    writeFileSync(path, kept)
    inFile((database) => database.exec("UPDATE _sluice SET owner = 'another'"))
    const refused = await run("publish")
    assert.strictEqual(refused.code, 1)
    assert.match(
      refused.stderr,
      /it has the tables of another output folder; \.\/sluice publish .*--full replaces them/
    )
    assert.strictEqual((await run("publish", "--full")).code, 0)
  })
})

it.live("a SQLite file has each table under a name of its own, also where two names differ in capitals only", () =>
  Effect.gen(function* () {
    const folder = newFolder()
    const make = yield* Effect.promise(() => DuckDBInstance.create(join(folder, "crm.duckdb")))
    const connection = yield* Effect.promise(() => make.connect())
    const rows = "SELECT * FROM (VALUES ('a', 1), ('b', 2)) AS t (id, n)"
    yield* Effect.promise(() =>
      connection.run(
        `CREATE SCHEMA bi; CREATE SCHEMA meta; CREATE TABLE meta.runs (run_id VARCHAR); CREATE TABLE main.things AS ${rows}; CREATE TABLE bi."Things" AS ${rows} WHERE id = 'a'; CREATE TABLE bi.crm_things AS ${rows}; CREATE TABLE main."_SLUICE" AS ${rows}`
      )
    )
    connection.closeSync()
    make.closeSync()
    const manifest = { run: "r1", files: [{ path: "crm.duckdb", sha256: "0" }] }
    const path = join(folder, "crm.sqlite")
    const options = { memoryMb: 128, owner: "o", target: "file" }
    const { notes, tables } = yield* makeFile(path, { folder, manifest } as unknown as PreviousRelease, options)
    const database = new DatabaseSync(path)
    const counts = tables.map((table) => [table, database.prepare(`SELECT count(*) AS n FROM ${table}`).get()!["n"]])
    database.close()
    assert.deepStrictEqual(Object.fromEntries(counts), {
      '"things"': 2,
      '"bi_Things"': 1,
      '"crm_things"': 2,
      '"crm__SLUICE"': 2
    })
    assert.lengthOf(notes, 2)
  })
)
