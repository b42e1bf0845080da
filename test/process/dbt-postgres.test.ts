/** The dbt project of examples/dbt, on a database that sluice keeps up to date. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { cpSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { discard, openSynced } from "../support/account.ts"
import { postgresPrograms, sqlIn, openDatabase, withoutPostgres } from "../support/postgres.ts"
import { python } from "../support/python.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const canRun = python !== undefined && postgresPrograms !== undefined

describe.skipIf(!canRun)(canRun ? "dbt" : withoutPostgres, () => {
  it("builds models on the tables of a database", async () => {
    const server = await openDatabase()
    const account = await openSynced({ flags: ["--contacts", "60"], formats: "duckdb,parquet,csv" })
    const project = newFolder()
    cpSync(fileURLToPath(new URL("../../examples/dbt", import.meta.url)), project, { recursive: true })
    const config = join(project, "sluice.toml")
    writeFileSync(
      config,
      '[[publish]]\nname = "warehouse"\npostgres = "env:CRM_URL"\nschema = "crm"\nprofile = "raw"\n'
    )
    try {
      const environment = { ...account.environment, SLUICE_FORMATS: "duckdb,parquet,csv", CRM_URL: server.url }
      const published = await sluice(["publish", "--config", config], environment)
      assert.strictEqual(published.code, 0, published.stderr)
      const { hostname, pathname, port, username } = new URL(server.url)
      execFileSync(join(python!, "..", "dbt"), ["build", "--profiles-dir", ".", "--no-use-colors"], {
        cwd: project,
        env: { ...process.env, PGHOST: hostname, PGPORT: port, PGUSER: username, PGDATABASE: pathname.slice(1) }
      })
      const deals = "SELECT sum(deals) FROM deals.won_by_month"
      const won = "SELECT count(*) FROM crm.opportunities WHERE status = 'won' AND _deleted_at IS NULL"
      assert.strictEqual(await sqlIn(server, deals), await sqlIn(server, won))
      assert.isAbove(Number(await sqlIn(server, won)), 0)
    } finally {
      discard(account)
      await server.stop()
    }
  })
})
