/** A night whose targets get nothing new is called complete nowhere, and the alarm ends with the night that delivers. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openAlone } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { startReceiver } from "../support/receiver.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const folder = newFolder()
const config = join(folder, "sluice.toml")
const metrics = join(folder, "sluice.prom")
const file = join(folder, "crm.sqlite")
const sqlite = `[[publish]]\nname = "file"\nsqlite = "${file}"\nprofile = "raw"\n`
const postgres = `[[publish]]\nname = "warehouse"\npostgres = "postgres://user:hidden@127.0.0.1:9/crm"\nprofile = "raw"\n`
let account: Account
let receiver: Awaited<ReturnType<typeof startReceiver>>

const settings = (...targets: ReadonlyArray<string>) =>
  writeFileSync(
    config,
    [`[signals]\nwebhook_url = "${receiver.url}"\nmetrics_file = "${metrics}"\n`, ...targets].join("\n")
  )
const run = (...args: ReadonlyArray<string>) =>
  sluice([...args, "--config", config], { ...account.environment, SLUICE_FORMATS: "duckdb", SLUICE_MODELS: "false" })
const lastRun = async () => {
  const [row] = await query(
    account.warehouse,
    "SELECT status, exit_code::INT AS code FROM meta.runs ORDER BY run_id DESC LIMIT 1"
  )
  return row
}
const status = async () => JSON.parse((await run("status", "--json", "--max-age", "26h")).stdout)
const names = (all: ReadonlyArray<{ readonly kind: string; readonly subject?: string }>) =>
  all.map(({ kind, subject }) => (subject === undefined ? kind : `${kind}:${subject}`)).sort()

beforeAll(async () => {
  receiver = await startReceiver()
  account = await openAlone("contacts,locations,custom_fields", "--contacts", "6")
})
afterAll(() => {
  discard(account)
  receiver.stop()
  rmSync(folder, { recursive: true })
})

describe("a night", { tags: ["slow"] }, () => {
  it("that cannot reach PostgreSQL, nor replace a file, is a failure wherever somebody looks", async () => {
    settings(sqlite, postgres)
    writeFileSync(file, "not ours")
    const ran = await run("sync")
    assert.strictEqual(ran.code, 1)
    assert.deepStrictEqual(await lastRun(), { status: "incomplete", code: 1 })
    const { exitCode, data } = await status()
    assert.strictEqual(exitCode, 3)
    const [own, ...others] = data.targets.toSorted(
      (one: { name: string }, other: { name: string }) =>
        Number(one.name !== "published") - Number(other.name !== "published")
    )
    assert.isUndefined(own.failedSince, "the files were published")
    for (const { deliveredAt, failedSince, name, problem } of others) {
      assert.isUndefined(deliveredAt, name)
      assert.isString(failedSince, name)
      assert.match(problem, name === "warehouse" ? /ECONNREFUSED/ : /sluice did not create it|not a database/, name)
      assert.notInclude(problem, "hidden")
    }
    assert.deepStrictEqual(
      others.map(({ name }: { name: string }) => name),
      ["file", "warehouse"]
    )
    assert.include((await run("status")).stdout, "warehouse: has nothing yet; not brought up to date since")
    const checked = await run("check", "--json")
    assert.strictEqual(checked.code, 4)
    assert.deepStrictEqual(names(JSON.parse(checked.stdout).data.alarms), ["sync", "target:file", "target:warehouse"])
    const report = readFileSync(join(account.output, "published/report/index.html"), "utf8")
    assert.notMatch(report, /<strong id="status">Complete/)
    assert.match(report, /<strong id="status">Not delivered/)
    assert.match(readFileSync(metrics, "utf8"), /sluice_target_failed\{target="warehouse"\} 1/)
    assert.match(readFileSync(metrics, "utf8"), /sluice_last_run_exit_code 1/)
    assert.isTrue(receiver.received.some(({ body }) => body.includes("target:warehouse")))
  })

  it("that delivers to one of them ends its alarm alone, and the other one is known by what it has", async () => {
    rmSync(file)
    assert.strictEqual((await run("sync")).code, 1)
    const [, delivered, failed] = (await status()).data.targets.toSorted(
      (one: { name: string }, other: { name: string }) =>
        ["published", "file", "warehouse"].indexOf(one.name) - ["published", "file", "warehouse"].indexOf(other.name)
    )
    assert.isUndefined(delivered.failedSince)
    assert.isString(failed.failedSince)
    assert.isTrue(existsSync(file))
    assert.deepStrictEqual(names(JSON.parse((await run("check", "--json")).stdout).data.alarms), [
      "sync",
      "target:warehouse"
    ])
  })

  it("that delivers to all is complete again, and so is one whose target the settings name no more", async () => {
    settings(sqlite)
    const ran = await run("sync")
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.deepStrictEqual(await lastRun(), { status: "complete", code: 0 })
    const { exitCode, data } = await status()
    assert.strictEqual(exitCode, 0)
    assert.deepStrictEqual(
      data.targets.map(({ name, failedSince }: Record<string, string>) => [name, failedSince]),
      [
        ["file", undefined],
        ["published", undefined]
      ]
    )
    assert.strictEqual((await run("check")).code, 0)
    assert.match(
      readFileSync(join(account.output, "published/report/index.html"), "utf8"),
      /<strong id="status">Complete/
    )
    assert.isTrue(receiver.received.some(({ body }) => body.includes('"recovery"')))
  })
})

it("a night that cannot replace a file is not complete in meta.runs, and raises the alarm of its target", async () => {
  const alone = await openAlone("contacts", "--contacts", "2")
  try {
    const own = join(alone.output, "sluice.toml")
    const taken = join(folder, "taken")
    writeFileSync(taken, "not ours")
    const environment = { ...alone.environment, SLUICE_FORMATS: "none", SLUICE_MODELS: "false" }
    const failing = async (target: string, ...args: ReadonlyArray<string>) => {
      writeFileSync(own, `[[publish]]\nname = "file"\n${target}\nprofile = "raw"\n`)
      assert.strictEqual((await sluice([...args, "--config", own], environment)).code, 1)
      const versions = await query(
        alone.warehouse,
        "SELECT base IS NOT NULL AS is_kept FROM meta.content_versions WHERE resource = 'contacts'"
      )
      return versions.map((row) => row["is_kept"])
    }
    // A lake gets the rows that changed since it last got some: they stay changed until it has them.
    const lake = `lake = "${taken}/lake"\ncatalog = "${taken}/lake.db"`
    assert.deepStrictEqual(await failing(lake, "sync", ...alone.selection), [false])
    const [row] = await query(alone.warehouse, "SELECT status, exit_code::INT AS code FROM meta.runs")
    assert.deepStrictEqual(row, { status: "incomplete", code: 1 })
    const checked = await sluice(["check", "--json", "--config", own], environment)
    assert.include(names(JSON.parse(checked.stdout).data.alarms), "target:file")
    // A file gets the difference of two releases, which were made.
    assert.deepStrictEqual(await failing(`sqlite = "${taken}"`, "publish"), [true])
  } finally {
    discard(alone)
  }
})
