/** dbt builds the same models from the published file, and its tests find what is wrong with an account. */
import { assert, describe, it } from "@effect/vitest"
import { DuckDBInstance } from "@duckdb/node-api"
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { projectFolder, writeProject } from "../../src/stages/publish/models/files.ts"
import { discard, openSynced } from "../support/account.ts"
import { pythonWith } from "../support/python.ts"
import { newFolder } from "../support/sluice.ts"

const python = pythonWith(["dbt-core==1.11.16", "dbt-duckdb==1.10.1", "duckdb==1.5.5"])

interface Result {
  readonly name: string
  readonly status: string
}

/** Runs `dbt build` in a copy of the project; `results` has the status of the models and tests. `select`: without it, all. */
const build = async (
  database: string,
  folder: string,
  ...select: ReadonlyArray<string>
): Promise<{ readonly code: number; readonly results: ReadonlyArray<Result> }> => {
  await writeProject(folder)
  mkdirSync(join(folder, "target"), { recursive: true })
  // Only tests of what is built.
  const args = [
    "build",
    "--profiles-dir",
    ".",
    "--no-use-colors",
    "--quiet",
    "--indirect-selection",
    "cautious"
  ].concat(select.flatMap((one) => ["--select", one]))
  const env = { ...process.env, SLUICE_DUCKDB: database }
  const { status } = spawnSync(join(python!, "..", "dbt"), args, { cwd: folder, stdio: "ignore", env })
  const { results } = JSON.parse(readFileSync(join(folder, "target", "run_results.json"), "utf8")) as {
    results: ReadonlyArray<{ unique_id: string; status: string }>
  }
  return {
    code: status!,
    results: results.map(({ unique_id, status }) => ({ name: unique_id.split(".")[2]!, status }))
  }
}

const named = (results: ReadonlyArray<Result>, isWanted: (status: string) => boolean) =>
  results.filter(({ status }) => isWanted(status)).map(({ name }) => name)
const isWrong = (status: string) => !["success", "pass", "warn"].includes(status)

describe.skipIf(python === undefined)("dbt", () => {
  it("builds the same rows, warns of what the service sends, and finds planted faults", async () => {
    const account = await openSynced({ flags: ["--contacts", "60"], formats: "duckdb,parquet,csv" })
    try {
      const database = join(account.output, "published", "crm.duckdb")
      const project = newFolder()
      const { code, results } = await build(database, project)
      assert.deepStrictEqual(named(results, isWrong), [])
      assert.strictEqual(code, 0)
      assert.isAbove(results.length, 1000)

      const instance = await DuckDBInstance.create(":memory:")
      const connection = await instance.connect()
      await connection.run(`ATTACH '${database}' AS ours (READ_ONLY)`)
      await connection.run(`ATTACH '${join(project, "target", "models.duckdb")}' AS theirs (READ_ONLY)`)
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

      // An account may have these and be sound: a job that runs dbt must not end because of them.
      const odd = join(newFolder(), "crm.duckdb")
      copyFileSync(database, odd)
      await plant(odd, [
        "UPDATE invoices SET total = -5, status = 'overpaid' WHERE rowid = (SELECT min(rowid) FROM invoices)",
        "UPDATE opportunities SET status = 'dreamt' WHERE rowid = (SELECT min(rowid) FROM opportunities)",
        "UPDATE appointments SET date_added = TIMESTAMPTZ '2099-01-01 00:00:00Z' WHERE rowid = (SELECT min(rowid) FROM appointments)"
      ])
      const facts = ["+fct_invoice", "+fct_opportunity", "+fct_appointment"]
      const warned = await build(odd, newFolder(), ...facts)
      assert.deepStrictEqual(named(warned.results, isWrong), [])
      assert.strictEqual(warned.code, 0)
      expectNames(
        named(warned.results, (status) => status === "warn"),
        [
          /^not_negative_fct_invoice_total/,
          /^accepted_values_fct_invoice_invoice_status/,
          /^accepted_values_fct_opportunity_status/,
          /^not_after_read_fct_appointment_booked_at/
        ]
      )

      const spoilt = join(newFolder(), "crm.duckdb")
      copyFileSync(database, spoilt)
      await plant(spoilt, [
        "INSERT INTO contacts SELECT * FROM contacts LIMIT 1",
        "UPDATE invoice_items SET invoice_id = 'nothing' WHERE rowid = (SELECT min(rowid) FROM invoice_items)"
      ])
      const failed = await build(spoilt, newFolder(), "source:crm.contacts", "stg_invoices", "stg_invoice_items")
      assert.strictEqual(failed.code, 1)
      expectNames(named(failed.results, isWrong), [
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
