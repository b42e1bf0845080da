/** A model that cannot be built: an alarm of its own, shown wherever the state is shown, and no failure of the sync. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openSynced, openTables } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"
import { textOf } from "../report/reading.ts"

describe("a sync with a model that cannot be built", () => {
  let account: Account
  const run = (...args: ReadonlyArray<string>) =>
    sluice([...args, "--config", join(account.output, "sluice.toml")], account.environment)
  const json = async (...args: ReadonlyArray<string>) => JSON.parse((await run(...args, "--json")).stdout)
  const write = (sql: string) => writeFileSync(join(account.output, "own", "cities.sql"), sql)
  const good = "SELECT city, count(*) AS contacts FROM {{ ref('dim_contact') }} GROUP BY ALL"
  beforeAll(async () => {
    account = await openTables("locations,contacts", "--contacts", "30")
    mkdirSync(join(account.output, "own"))
    writeFileSync(
      join(account.output, "sluice.toml"),
      `[models]\nfolder = ${JSON.stringify(join(account.output, "own"))}\n`
    )
    account = { ...account, environment: { ...account.environment, SLUICE_FORMATS: "duckdb" } }
    write(good)
    const first = await run("sync", ...account.selection)
    assert.strictEqual(first.code, 0, first.stderr)
    write("SELECT nothing FROM {{ ref('dim_contact') }}")
  })
  afterAll(() => discard(account))

  it("ends with 0, names it, keeps its table, and is an alarm until it can be built", { tags: ["slow"] }, async () => {
    for (const _ of ["the first night", "the next one"]) {
      const ran = await run("sync", ...account.selection)
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.include(ran.stderr, "Model not built, its table of ")
      assert.include(ran.stderr, "Next: ./sluice check")
      const checked = await json("check")
      assert.strictEqual(checked.exitCode, 4)
      assert.deepStrictEqual(
        checked.data.alarms.map(({ alarm, level }: Record<string, string>) => [alarm, level]),
        [["models:cities", "warning"]]
      )
      assert.include((await run("status")).stdout, "warning  models:cities: the model could not be built")
      const published = join(account.output, "published", "crm.duckdb")
      for (const file of [account.warehouse, published])
        assert.deepStrictEqual(
          await query(file, "SELECT model, kept_at IS NOT NULL AS kept FROM meta.model_problems"),
          [{ model: "cities", kept: true }]
        )
      assert.deepStrictEqual(await query(published, "SELECT sum(contacts)::INTEGER AS n FROM bi.cities"), [{ n: 30 }])
      assert.deepStrictEqual(
        await query(account.warehouse, "SELECT DISTINCT exit_code FROM meta.runs WHERE command = 'sync'"),
        [{ exit_code: 0 }]
      )
      const report = textOf(readFileSync(join(account.output, "published", "report", "index.html"), "utf8"))
      assert.include(report, "Models are missing")
      assert.match(report, /bi\.cities could not be built: its table is that of \d/)
    }
    assert.strictEqual((await run("publish")).code, 3)
    write(good)
    assert.strictEqual((await run("publish")).code, 0)
    const checked = await json("check")
    assert.deepStrictEqual([checked.exitCode, checked.data.recovered], [0, ["models:cities"]])
  })
})

describe("a problem of a model", () => {
  it("is an alarm that names the model", async () => {
    const alone = await openSynced({ tables: "locations,contacts", flags: ["--contacts", "3"], isAlone: true })
    try {
      await query(
        alone.warehouse,
        "INSERT INTO meta.model_problems BY NAME SELECT 'cities' AS model, 'no such column' AS problem",
        "READ_WRITE"
      )
      const { code, stdout } = await sluice(["check"], alone.environment)
      assert.strictEqual(code, 4)
      assert.match(stdout, /models:cities: the model could not be built/)
    } finally {
      discard(alone)
    }
  })
})
