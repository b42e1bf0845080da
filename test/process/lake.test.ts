/** The lake, read as its users read it: by DuckDB for Python, with the extension that DuckDB publishes. */
import { assert, describe, it } from "@effect/vitest"
import { cpSync, existsSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, openAlone, openTables } from "../support/account.ts"
import { lakeExtensions, withLake } from "../support/extensions.ts"
import { knowingApart, start } from "../support/process.ts"
import { python, runPython } from "../support/python.ts"
import { randomFrom } from "../support/random.ts"
import { type Ran, newFolder, sluice } from "../support/sluice.ts"

const seed = Number(process.env["SLUICE_SEED"] ?? 1)

const attached = `
import duckdb, json, sys
extensions, catalog = sys.argv[1:3]
c = duckdb.connect(config={"autoinstall_known_extensions": "false"})
c.execute("SET enable_progress_bar = false") # It would be on stdout.
c.execute(f"LOAD '{extensions}/ducklake.duckdb_extension'")
c.execute(f"ATTACH 'ducklake:{catalog}' AS lake (READ_ONLY)")
`
/**
 * Prints, as JSON, the tables whose rows differ between a warehouse and the lake, those whose number of rows is not that of
 * sluice.commits, and the snapshots.
 */
const reader = `${attached}
warehouse = sys.argv[3]
c.execute(f"ATTACH '{warehouse}' AS warehouse (READ_ONLY)")
c.execute("BEGIN") # Otherwise the lake is read anew for each statement.
tables = c.execute("SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'warehouse' AND schema_name LIKE 'crm%'").fetchall()
differ, rows = [], 0
for schema, table in tables:
    if c.execute(f'SELECT count(*) FROM lake.{schema}."{table}"').fetchone() == c.execute(f'SELECT count(*) FROM warehouse.{schema}."{table}"').fetchone() == (0,): continue
    one, other = f'lake.{schema}."{table}"', f'warehouse.{schema}."{table}"'
    columns = ", ".join(f'"{name}"' for name, in c.execute(f"SELECT column_name FROM duckdb_columns() WHERE database_name = 'warehouse' AND schema_name = '{schema}' AND table_name = '{table}'").fetchall())
    n = c.execute(f"SELECT count(*) FROM ((SELECT {columns} FROM {one} EXCEPT ALL SELECT {columns} FROM {other}) UNION ALL (SELECT {columns} FROM {other} EXCEPT ALL SELECT {columns} FROM {one}))").fetchone()[0]
    rows += c.execute(f"SELECT count(*) FROM {one}").fetchone()[0]
    if n: differ.append(f"{schema}.{table}: {n}")
    column = "rows" if schema == "crm" else "history_rows"
    said = c.execute(f"SELECT sum({column}) FROM (FROM lake.sluice.commits WHERE table_name = '{table}' QUALIFY row_number() OVER (PARTITION BY location_id ORDER BY run_id DESC, committed_at DESC) = 1)").fetchone()[0] or 0
    if said != c.execute(f"SELECT count(*) FROM {one}").fetchone()[0]: differ.append(f"{schema}.{table}: sluice.commits says {said}")
snapshots = c.execute("SELECT snapshot_id, author, commit_message FROM lake.snapshots() ORDER BY 1").fetchall()
print(json.dumps({"tables": len(tables), "rows": rows, "differ": differ, "snapshots": snapshots}))
`

interface Read {
  readonly tables: number
  readonly rows: number
  readonly differ: ReadonlyArray<string>
  readonly snapshots: ReadonlyArray<readonly [id: number, author: string | null, message: string | null]>
}

const tables = "contacts,opportunities,conversations,messages"
const sync = ["sync", "--only", tables, "--except", "emails,recordings,transcript_sentences"]
/** For the claims that are not about every table. */
const few = "contacts,opportunities"
const flags = ["--limits", "off", "--contacts", "60"]

describe.skipIf(python === undefined)("the lake", () => {
  const extensions = () => lakeExtensions(python!)
  /** `CONFIG`: the flags of the settings file, for `run` and `runProcess`. */
  const lakeOf = (account: Account, formats: ReadonlyArray<string> = [], more = {}) => ({
    ...account.environment,
    SLUICE_FORMATS: formats.join() || "none",
    CONFIG: withLake(python!, { lake: join(account.output, "lake"), ...more }).join(" ")
  })
  type Environment = Readonly<Record<string, string>>
  const flagsOf = (environment: Environment) => environment["CONFIG"]!.split(" ")
  const ending = async (ran: Promise<Ran>, code: number) => {
    const ended = await ran
    assert.strictEqual(ended.code, code, ended.stderr)
    return ended
  }
  /** As users do, with the tables of all definitions. */
  const runProcess = (args: ReadonlyArray<string>, environment: Environment, code = 0) =>
    ending(start([...args, ...flagsOf(environment)], environment).ended, code)
  /** With the tables of the account only: each table takes time in a commit, also without a row. */
  const run = (args: ReadonlyArray<string>, environment: Environment, code = 0) =>
    ending(sluice([...args, ...flagsOf(environment)], environment), code)
  const read = (output: string, warehouse = join(output, "warehouse.duckdb")): Read =>
    JSON.parse(runPython(python!, reader, extensions(), join(output, "lake.ducklake"), warehouse))
  const snapshotsIn = (output: string) =>
    Number(
      runPython(
        python!,
        `${attached}print(len(c.execute("FROM lake.snapshots()").fetchall()))`,
        extensions(),
        join(output, "lake.ducklake")
      )
    )
  const change = (account: Account, round: number) =>
    account.service.post("change", {
      contacts: 0.1,
      opportunities: 0.1,
      conversations: 0.1,
      deleted: 0.05,
      seed: round
    })

  it("has the rows of the warehouse after each sync, one snapshot for each with changes, and earlier ones as they were", async () => {
    const account = await openTables(tables, ...flags)
    try {
      const environment = lakeOf(account)
      await runProcess(sync, environment)
      const first = read(account.output)
      assert.deepStrictEqual(first.differ, [])
      assert.isAbove(first.tables, 200)
      assert.isAbove(first.rows, 500)
      cpSync(join(account.output, "warehouse.duckdb"), join(account.output, "..", "before.duckdb"))
      const [snapshot, author, message] = first.snapshots.at(-1)!
      assert.strictEqual(author, account.service.locationId)
      assert.match(message!, /^\d{8}T\d{9}Z$/)

      await change(account, 1)
      await runProcess(sync, environment)
      const second = read(account.output)
      assert.deepStrictEqual(second.differ, [])
      assert.strictEqual(second.snapshots.length, first.snapshots.length + 1)

      await runProcess(["publish"], environment)
      assert.strictEqual(snapshotsIn(account.output), second.snapshots.length, "nothing has changed")

      const then = `
import duckdb, sys
c = duckdb.connect(config={"autoinstall_known_extensions": "false"})
c.execute(f"LOAD '{sys.argv[1]}/ducklake.duckdb_extension'")
c.execute(f"ATTACH 'ducklake:{sys.argv[2]}' AS lake (READ_ONLY)")
c.execute(f"ATTACH '{sys.argv[3]}' AS before (READ_ONLY)")
print(c.execute(f"SELECT count(*) FROM (FROM lake.crm.contacts AT (VERSION => {sys.argv[4]}) EXCEPT ALL FROM before.crm.contacts)").fetchone()[0], c.execute("SELECT count(*) FROM (FROM lake.crm.contacts EXCEPT ALL FROM before.crm.contacts)").fetchone()[0] > 0, c.execute(f"SELECT count(*) > 0 FROM ducklake_table_changes('lake', 'crm', 'contacts', {int(sys.argv[4]) + 1}, {int(sys.argv[4]) + 1})").fetchone()[0])
`
      const before = join(account.output, "..", "before.duckdb")
      const catalog = join(account.output, "lake.ducklake")
      assert.strictEqual(
        runPython(python!, then, extensions(), catalog, before, String(snapshot)).trim(),
        "0 True True"
      )

      const verified = await runProcess(["verify"], environment)
      assert.match(verified.stdout, /lake +\d+ tables, [\d,]+ rows, compared with the warehouse +ok/)
    } finally {
      account.service.stop()
    }
  })

  it("is brought up to date by the next command after a failure, and the files are published nevertheless", async () => {
    const account = await openAlone(few, ...flags)
    try {
      const environment = { ...lakeOf(account, ["csv"]), ...(await knowingApart(few)) }
      const failed = await runProcess(
        ["sync", ...account.selection],
        { ...environment, CONFIG: lakeOf(account, [], { extensions: newFolder() }).CONFIG },
        1
      )
      assert.match(
        failed.stderr,
        /The lake in .*lake\.ducklake was not changed: the DuckDB extension ducklake could not be loaded/
      )
      assert.include(failed.stderr, "Next: Correct this, then run sluice publish")
      assert.isTrue(statSync(join(account.output, "published/csv/contacts.csv")).size > 1000)
      await runProcess(["publish"], environment)
      assert.deepStrictEqual(read(account.output).differ, [])
    } finally {
      account.service.stop()
    }
  })

  it(`has every row once after commands were killed at random times (seed ${seed})`, async () => {
    const random = randomFrom(seed)
    const account = await openAlone(few, ...flags)
    try {
      const environment = { ...lakeOf(account), ...(await knowingApart(few)) }
      const sync = ["sync", ...account.selection]
      await runProcess(sync, environment)
      await change(account, 6)
      const begun = Date.now()
      await runProcess(sync, environment)
      let usualMs = Date.now() - begun
      let killed = 0
      // A machine whose load falls finishes syncs before their kill, so the usual time follows the quickest sync.
      for (let round = 1; killed < 4 && round <= 15; round++) {
        await change(account, round)
        const started = Date.now()
        const running = start([...sync, ...flagsOf(environment)], environment)
        const timer = setTimeout(() => running.kill("SIGKILL"), usualMs * (0.2 + 0.7 * random()))
        const { code } = await running.ended
        clearTimeout(timer)
        if (code === null) killed++
        else usualMs = Math.min(usualMs, Date.now() - started)
      }
      process.stderr.write(`${killed} syncs killed\n`)
      assert.isAtLeast(killed, 3)
      await runProcess(sync, environment)
      assert.deepStrictEqual(read(account.output).differ, [])
    } finally {
      account.service.stop()
    }
  })

  it("has fewer files and the same rows after maintenance, which says before what it would do", async () => {
    const account = await openAlone(few, ...flags)
    try {
      const environment = lakeOf(account)
      const data = join(account.output, "lake")
      const files = () =>
        readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length
      await run(["sync", ...account.selection], environment)
      for (const round of [1, 2, 3]) {
        await change(account, round)
        await run(["sync", ...account.selection], environment)
      }
      const before = files()
      const planned = await run(["lake", "maintain", "--json"], environment)
      const steps: Record<string, number> = Object.fromEntries(
        JSON.parse(planned.stdout).data.steps.map((one: { step: string; count: number }) => [one.step, one.count])
      )
      assert.isAbove(steps["merge"]!, 20)
      assert.isAbove(steps["commits"]!, 20)
      assert.strictEqual(steps["delete"], 0)
      assert.strictEqual(files(), before)
      await run(["lake", "maintain", "--apply"], environment)
      assert.deepStrictEqual(read(account.output).differ, [])
      const after = JSON.parse((await run(["lake", "maintain", "--json"], environment)).stdout).data.steps
      for (const { count, step } of after as ReadonlyArray<{ step: string; count: number }>)
        if (["commits", "merge", "rewrite"].includes(step)) assert.strictEqual(count, 0, step)
      await run(["verify"], environment)
      // Whoever may write the catalog may name any file in it.
      const precious = join(account.output, "precious.parquet")
      writeFileSync(precious, "not of the lake")
      const inCatalog = (sql: string) =>
        runPython(
          python!,
          "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(sys.argv[2])",
          join(account.output, "lake.ducklake"),
          sql
        )
      const scheduled = "ducklake_files_scheduled_for_deletion"
      for (const [path, isRelative] of [
        ["../precious.parquet", true],
        [precious, false]
      ] as const) {
        inCatalog(`INSERT INTO ${scheduled} VALUES (-1, '${path}', ${isRelative}, now() - INTERVAL 9 DAY)`)
        const refused = await sluice(["lake", "maintain", "--apply", ...flagsOf(environment)], environment)
        assert.strictEqual(refused.code, 1)
        assert.include(refused.stderr.replaceAll(/\s+/g, " "), "which is no file of the lake; nothing was deleted")
        assert.isTrue(existsSync(precious))
        inCatalog(`DELETE FROM ${scheduled} WHERE data_file_id = -1`)
      }
    } finally {
      account.service.stop()
    }
  })
})
