import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { readFileSync } from "node:fs"
import { type Account, openAccount } from "./support/account.ts"
import { query } from "./support/compare.ts"
import { newFolder, sluice } from "./support/sluice.ts"

/** The commands in the table of the README. */
const listed = Array.from(
  readFileSync(new URL("../README.md", import.meta.url), "utf8").matchAll(/^\| `\.\/sluice (\w+)`/gm),
  ([, command]) => command!
)
// The sandbox has help of its own.
const commands = listed.filter((command) => command !== "sandbox")

describe("help", () => {
  it("begins with an example and lists exactly the commands of the README", async () => {
    const { code, stdout } = await sluice(["--help"], {})
    assert.strictEqual(code, 0)
    assert.match(stdout, /^ {2}\.\/sluice /)
    const named = Array.from(stdout.matchAll(/^ {2}(\w+) /gm), ([, command]) => command!)
    assert.deepStrictEqual(named.toSorted(), listed.toSorted())
  })

  it.each(commands)("of %s names the command in its first two lines", async (command) => {
    const { code, stdout } = await sluice([command, "--help"], {})
    assert.strictEqual(code, 0)
    assert.match(stdout.split("\n").slice(0, 2).join("\n"), new RegExp(command))
  })
})

interface Estimate {
  readonly resource: string
  readonly requests?: number
}

describe("the commands", () => {
  let account: Account
  const json = async (...args: ReadonlyArray<string>) => {
    const ran = await sluice([...args, "--json"], account.environment)
    assert.strictEqual(ran.code, 0, ran.stderr)
    return JSON.parse(ran.stdout)
  }
  beforeAll(async () => {
    account = await openAccount("--contacts", "150", "--limits", "100/200/200000")
  })
  afterAll(() => account.service.stop())

  it.each(["status", "publish", "publish --stdout contacts", "verify", "rebuild"])(
    "%s names sync as the next step if nothing has been synced",
    async (command) => {
      const ran = await sluice(command.split(" "), { ...account.environment, SLUICE_OUTPUT: newFolder() })
      assert.strictEqual(ran.code, 1)
      assert.match(ran.stderr, /^Next: \.\/sluice sync/m)
      assert.notMatch(ran.stderr, /defect/)
    }
  )

  it.each([
    ["--only", ""],
    ["--except", " , "],
    ["--only", "tasks", "--except", "tasks"]
  ])("an empty selection is refused: %s %s", async (...flags) => {
    const ran = await sluice(["sync", ...flags], account.environment)
    assert.strictEqual(ran.code, 2)
    assert.match(ran.stderr, /no table or family is named|nothing is left to read/)
  })

  it("plan estimates the requests of a first sync within 10 %, except for resources without an estimate", async () => {
    const plan = await json("plan")
    await account.service.post("stats/reset", {})
    const synced = await json("sync")
    const { requests } = await account.service.stats()
    assert.strictEqual(synced.requests, requests)
    // Children of some rows only have no estimate.
    const withoutEstimate = new Set(
      plan.steps.filter((step: Estimate) => step.requests === undefined).map(({ resource }: Estimate) => resource)
    )
    assert.includeMembers([...withoutEstimate], ["emails", "recordings"])
    const estimated = synced.resources
      .filter(({ resource }: Estimate) => !withoutEstimate.has(resource) && resource !== "messages/conversations")
      .reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0)
    assert.closeTo(plan.requests, estimated, estimated / 10)
  })

  it("status reports the requests of the last run and the number that was planned", async () => {
    const synced = await json("sync")
    const { run } = await json("status")
    assert.strictEqual(run.id, synced.run)
    assert.strictEqual(run.requests, synced.requests)
    assert.isAtLeast(run.plannedRequests, 1)
  })

  it("--only with a child reads its parent as well, and no other resource", async () => {
    const synced = await json("sync", "--only", "contact_notes")
    assert.deepStrictEqual(
      synced.resources.map(({ resource }: { resource: string }) => resource),
      ["contact_notes", "contacts"]
    )
  })

  it("publish --stdout writes a table with every record in CSV that a parser reads", async () => {
    const ran = await sluice(["publish", "--stdout", "contacts"], account.environment)
    assert.strictEqual(ran.code, 0, ran.stderr)
    const rows = parse(ran.stdout, { columns: true }) as ReadonlyArray<Record<string, string>>
    const contacts = await account.service.records("contacts")
    assert.deepStrictEqual(rows.map(({ id }) => id).sort(), contacts.map(({ id }) => String(id)).sort())
  })

  it("dictionary describes exactly the tables of the warehouse, in JSON and in its sections", async () => {
    const warehouse = await query(
      account.warehouse,
      "SELECT table_name AS name FROM duckdb_tables() WHERE schema_name = 'crm' ORDER BY name"
    )
    const tables = warehouse.map(({ name }) => String(name))
    assert.include(tables, "contact_custom_values")
    const described: ReadonlyArray<{ readonly name: string }> = await json("dictionary")
    assert.deepStrictEqual(described.map(({ name }) => name).sort(), tables)
    const { stdout } = await sluice(["dictionary"], {})
    const sections = Array.from(stdout.matchAll(/^### (\w+)$/gm), ([, name]) => name!)
    assert.deepStrictEqual(sections.sort(), tables)
  })
})
