/** `sluice check` and the alarms of `status`, on tables whose times the test moves. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openTables } from "../support/account.ts"
import { inDatabase } from "../support/compare.ts"
import { newFolder, sluice } from "../support/sluice.ts"

let account: Account
beforeAll(async () => {
  account = await openTables("contacts,users", "--contacts", "20")
  assert.strictEqual((await account.sync()).code, 0)
})
afterAll(() => discard(account))

const check = (...flags: ReadonlyArray<string>) => sluice(["check", ...flags], account.environment)
const age = (hours: number) =>
  inDatabase(
    account.warehouse,
    (ask) => ask(`UPDATE meta.watermarks SET complete_at = now() - INTERVAL '${hours} hours' WHERE resource = 'users'`),
    "READ_WRITE"
  )

describe("check", () => {
  it("ends with 0 without alarms, and says what it compared", async () => {
    const { code, stdout } = await check()
    assert.strictEqual(code, 0)
    assert.match(stdout, /^ok: no alarms; compared: 1 sync, the age of \d+ resources, the volume of 0\n$/)
    assert.match((await check("--as", "nagios")).stdout, /^SLUICE OK - no alarms; .*\| warnings=0 errors=0\n$/)
  })

  it(
    "ends with 4 while there are alarms, names the next command, and says once what began and ended",
    { tags: ["slow"] },
    async () => {
      await age(40)
      const first = await check("--json")
      assert.strictEqual(first.code, 4)
      const { data, exitCode, next } = JSON.parse(first.stdout)
      assert.deepInclude(data.alarms[0], { alarm: "freshness:users", level: "warning", subject: "users" })
      assert.deepStrictEqual([exitCode, data.opened, data.recovered], [4, ["freshness:users"], []])
      assert.include(next, "./sluice sync")
      await age(60)
      const second = await check()
      assert.strictEqual(second.code, 4)
      assert.match(second.stdout, /^error {4}freshness:users: last read completely 60 h ago; the limit is 54 h\. Next/)
      assert.deepStrictEqual(JSON.parse((await check("--json")).stdout).data.opened, [])
      const status = await sluice(["status", ...account.selection], account.environment)
      assert.include(status.stdout, "error    freshness:users: last read completely 60 h ago")
      const nagios = await check("--as", "nagios")
      assert.strictEqual(nagios.code, 2)
      assert.match(nagios.stdout, /^SLUICE CRITICAL - freshness:users: .* \| warnings=0 errors=1\n$/)
      await age(0)
      assert.deepStrictEqual(JSON.parse((await check("--json")).stdout).data.recovered, ["freshness:users"])
      assert.strictEqual((await check()).code, 0)
    }
  )

  it("does not count an alarm that the settings silence, and shows the reason", async () => {
    await age(40)
    const settings = join(newFolder(), "sluice.toml")
    writeFileSync(settings, '[[silence]]\nalarm = "freshness:users"\nreason = "nobody joins"\nuntil = "2999-12-31"\n')
    const { code, stdout } = await check("--config", settings)
    assert.strictEqual(code, 0)
    assert.match(stdout, /^silenced freshness:users: last read completely 40 h ago; .*\(nobody joins\)/)
    writeFileSync(settings, readFileSync(settings, "utf8").replace("2999", "2020"))
    assert.strictEqual((await check("--config", settings)).code, 4)
    await age(0)
    assert.strictEqual((await check()).code, 0)
  })

  it(
    "keeps the alarms of a table while syncs read other tables, until one reads it again",
    { tags: ["slow"] },
    async () => {
      const run = (...flags: ReadonlyArray<string>) => sluice(["sync", ...flags], account.environment)
      const alarms = async () => {
        const { data } = JSON.parse((await check("--json")).stdout)
        return { open: data.alarms.map(({ alarm }: { readonly alarm: string }) => alarm), recovered: data.recovered }
      }
      assert.strictEqual((await account.sync()).code, 0)
      const last = "(SELECT max(run_id) FROM meta.runs)"
      await inDatabase(
        account.warehouse,
        async (ask) => {
          for (const [table, field, kind] of [
            ["users", "badge", "new field"],
            ["user_scopes", "scope = x", "new value"]
          ])
            await ask(
              `INSERT INTO meta.schema_changes SELECT location_id, '${table}', '${field}', '${kind}', NULL, ${last}, now(), 1, NULL
             FROM meta.run_resources WHERE resource = 'users' LIMIT 1`
            )
        },
        "READ_WRITE"
      )
      const all = ["schema", "values"]
      assert.deepStrictEqual(await alarms(), { open: all, recovered: [] })
      assert.strictEqual((await run("--only", "contacts", "--except", "contact_notes,tasks")).code, 0)
      assert.deepStrictEqual(await alarms(), { open: all, recovered: [] })
      assert.strictEqual((await account.sync()).code, 0)
      assert.deepStrictEqual(await alarms(), { open: [], recovered: all })
    }
  )

  it("refuses a silence without an end, and one of no alarm, with the line", async () => {
    const settings = join(newFolder(), "sluice.toml")
    writeFileSync(settings, '[[silence]]\nalarm = "weather"\nreason = "x"\n')
    const { code, stderr } = await check("--config", settings)
    assert.strictEqual(code, 78)
    assert.match(stderr, /sluice\.toml:2: silence\[0\]\.alarm is "weather"; expected sync, freshness, /)
    assert.match(stderr, /silence\[0\]\.until is missing/)
  })
})
