/** dbt builds the same models from the published file, reads the same figures, and its tests find what is wrong with an account. */
import { assert, describe, it } from "@effect/vitest"
import { DuckDBInstance } from "@duckdb/node-api"
import { execFileSync } from "node:child_process"
import { copyFileSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { projectFolder, writeProject } from "../../src/stages/publish/models/files.ts"
import { readMetrics } from "../../src/stages/publish/models/metrics.ts"
import { discard, openSynced } from "../support/account.ts"
import { python } from "../support/python.ts"
import { newFolder } from "../support/sluice.ts"

interface Result {
  readonly name: string
  readonly status: string
}

/** What one process of dbt is asked to build: of the project that is its folder, or, with `select`, of a part of it. */
interface Build {
  readonly database: string
  readonly select?: ReadonlyArray<string>
}

/**
 * Runs `dbt build` for each, and prints what came of it. The project is read once; only tests of what is built are run. It
 * writes no log, and not anew what it has read. The models of each are beside its database.
 */
const builder = `
import json, os, sys
from dbt.cli.main import dbtRunner
flags = ["--profiles-dir", ".", "--no-use-colors", "--quiet", "--log-level-file", "none", "--no-write-json"]
manifest, printed = None, []
for one in json.loads(sys.argv[1]):
    os.environ["SLUICE_DUCKDB"], os.environ["SLUICE_DBT_FILE"] = one["database"], os.path.join(os.path.dirname(one["database"]), "models.duckdb")
    if manifest is None: manifest = dbtRunner().invoke(["parse", *flags]).result
    figures = [metric.name for metric in manifest.metrics.values()]
    select = [part for name in one.get("select", []) for part in ["--select", name]]
    ran = dbtRunner(manifest=manifest).invoke(["build", *flags, "--indirect-selection", "cautious", *select])
    printed.append({"success": ran.success, "results": [{"name": result.node.unique_id.split(".")[2], "status": str(result.status)} for result in ran.result.results]})
print("\\n" + json.dumps({"figures": figures, "builds": printed}))
`

const build = async (
  ...builds: ReadonlyArray<Build>
): Promise<{
  readonly figures: ReadonlyArray<string>
  readonly builds: ReadonlyArray<{ readonly success: boolean; readonly results: ReadonlyArray<Result> }>
}> => {
  const folder = newFolder()
  await writeProject(folder)
  const environment = { cwd: folder, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const
  const printed = execFileSync(python!, ["-c", builder, JSON.stringify(builds)], environment)
  return JSON.parse(printed.trim().split("\n").at(-1)!)
}

const named = (results: ReadonlyArray<Result>, isWanted: (status: string) => boolean) =>
  results.filter(({ status }) => isWanted(status)).map(({ name }) => name)
/** A saved query has nothing to build. */
const isWrong = (status: string) => !["success", "pass", "warn", "no-op"].includes(status)

describe.skipIf(python === undefined)("dbt", () => {
  it("builds the same rows, warns of what the service sends, and finds planted faults", async () => {
    const account = await openSynced({ flags: ["--contacts", "60"], formats: "duckdb,parquet,csv" })
    try {
      const copied = () => {
        const copy = join(newFolder(), "crm.duckdb")
        copyFileSync(join(account.output, "published", "crm.duckdb"), copy)
        return copy
      }
      const database = copied()
      // An account may have these and be sound: a job that runs dbt must not end because of them.
      const odd = copied()
      await plant(odd, [
        "UPDATE invoices SET total = -5, status = 'overpaid' WHERE rowid = (SELECT min(rowid) FROM invoices)",
        "UPDATE opportunities SET status = 'dreamt' WHERE rowid = (SELECT min(rowid) FROM opportunities)",
        "UPDATE appointments SET date_added = TIMESTAMPTZ '2099-01-01 00:00:00Z' WHERE rowid = (SELECT min(rowid) FROM appointments)"
      ])
      const spoilt = copied()
      await plant(spoilt, [
        "INSERT INTO contacts SELECT * FROM contacts LIMIT 1",
        "UPDATE invoice_items SET invoice_id = 'nothing' WHERE rowid = (SELECT min(rowid) FROM invoice_items)"
      ])
      const { builds, figures } = await build(
        { database },
        { database: odd, select: ["+fct_invoice", "+fct_opportunity", "+fct_appointment"] },
        { database: spoilt, select: ["source:crm.contacts", "stg_invoices", "stg_invoice_items"] }
      )
      assert.sameMembers([...figures], [...(await readMetrics()).keys()])
      const [whole, warned, failed] = builds
      assert.deepStrictEqual(named(whole!.results, isWrong), [])
      assert.isTrue(whole!.success)
      assert.isAbove(whole!.results.length, 1000)

      const instance = await DuckDBInstance.create(":memory:")
      const connection = await instance.connect()
      await connection.run(`ATTACH '${database}' AS ours (READ_ONLY)`)
      await connection.run(`ATTACH '${join(dirname(database), "models.duckdb")}' AS theirs (READ_ONLY)`)
      const marts = readdirSync(join(projectFolder, "marts")).flatMap((file) => /^(.*)\.sql$/.exec(file)?.[1] ?? [])
      let rows = 0
      for (const mart of marts) {
        const [differing, all] = (
          await connection.runAndReadAll(
            `SELECT (SELECT count(*) FROM (FROM ours.bi.${mart} EXCEPT ALL FROM theirs.bi.${mart}))
               + (SELECT count(*) FROM (FROM theirs.bi.${mart} EXCEPT ALL FROM ours.bi.${mart})),
               (SELECT count(*) FROM ours.bi.${mart})`
          )
        ).getRows()[0]!
        assert.strictEqual(Number(differing), 0, mart)
        rows += Number(all)
      }
      assert.isAbove(rows, 10_000)
      connection.closeSync()
      instance.closeSync()

      assert.deepStrictEqual(named(warned!.results, isWrong), [])
      assert.isTrue(warned!.success)
      expectNames(
        named(warned!.results, (status) => status === "warn"),
        [
          /^not_negative_fct_invoice_total/,
          /^accepted_values_fct_invoice_invoice_status/,
          /^accepted_values_fct_opportunity_status/,
          /^not_after_read_fct_appointment_booked_at/
        ]
      )
      assert.isFalse(failed!.success)
      expectNames(named(failed!.results, isWrong), [
        /^unique_crm_contacts/,
        /^relationships_stg_invoice_items_invoice_id/
      ])
    } finally {
      discard(account)
    }
  })
})

const expectNames = (names: ReadonlyArray<string>, patterns: ReadonlyArray<RegExp>) => {
  for (const pattern of patterns)
    assert.isTrue(
      names.some((name) => pattern.test(name)),
      `${String(pattern)} in ${names.join(", ")}`
    )
}

const plant = async (database: string, statements: ReadonlyArray<string>): Promise<void> => {
  const instance = await DuckDBInstance.create(database)
  const connection = await instance.connect()
  for (const statement of statements) await connection.run(statement)
  connection.closeSync()
  instance.closeSync()
}
