import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { type Account, openAccount } from "./support/account.ts"
import { newFolder, sluice } from "./support/sluice.ts"

const commands = ["demo", "sync", "plan", "status", "publish", "rebuild", "verify", "doctor", "dictionary"]

describe("help", () => {
  it("begins with an example and names every command", async () => {
    const { code, stdout } = await sluice(["--help"], {})
    assert.strictEqual(code, 0)
    assert.match(stdout, /^ {2}\.\/sluice /)
    for (const command of [...commands, "sandbox"]) assert.match(stdout, new RegExp(`^ {2}${command} `, "m"))
  })

  it.each(commands)("of %s begins with an example", async (command) => {
    const { code, stdout } = await sluice([command, "--help"], {})
    assert.strictEqual(code, 0)
    assert.match(stdout.split("\n").slice(0, 2).join("\n"), new RegExp(command))
  })
})

interface Estimate {
  readonly resource: string
  readonly requests?: number
}

describe("the commands on one account", () => {
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
    "%s says what to do where nothing was synced",
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
  ])("a choice that names nothing is refused, and does not mean everything: %s %s", async (...flags) => {
    const ran = await sluice(["sync", ...flags], account.environment)
    assert.strictEqual(ran.code, 2)
    assert.match(ran.stderr, /no table or family is named|nothing is left to read/)
  })

  it("plan prices a first sync at what it then costs, within a tenth", async () => {
    const plan = await json("plan")
    await account.service.post("stats/reset", {})
    const synced = await json("sync")
    const { requests } = await account.service.stats()
    assert.strictEqual(synced.requests, requests)
    // What hangs on some rows only is not foreseen, and said to be so.
    const open = new Set(
      plan.steps.filter((step: Estimate) => step.requests === undefined).map(({ resource }: Estimate) => resource)
    )
    assert.includeMembers([...open], ["emails", "recordings"])
    const foreseen = synced.resources
      .filter(({ resource }: Estimate) => !open.has(resource) && resource !== "messages/conversations")
      .reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0)
    assert.closeTo(plan.requests, foreseen, foreseen / 10)
  })

  it("later runs compare what was planned with what it was", async () => {
    const synced = await json("sync")
    const { run } = await json("status")
    assert.strictEqual(run.id, synced.run)
    assert.strictEqual(run.requests, synced.requests)
    assert.isAtLeast(run.plannedRequests, 1)
  })

  it("a resource asked for brings the parent it is read under, and nothing else", async () => {
    const synced = await json("sync", "--only", "contact_notes")
    assert.deepStrictEqual(
      synced.resources.map(({ resource }: { resource: string }) => resource),
      ["contact_notes", "contacts"]
    )
  })

  it("publish --stdout writes a table that a CSV reader takes in whole", async () => {
    const ran = await sluice(["publish", "--stdout", "contacts"], account.environment)
    assert.strictEqual(ran.code, 0, ran.stderr)
    const rows = parse(ran.stdout, { columns: true }) as ReadonlyArray<Record<string, string>>
    const contacts = await account.service.records("contacts")
    assert.deepStrictEqual(rows.map(({ id }) => id).sort(), contacts.map(({ id }) => String(id)).sort())
  })

  it("dictionary lists every table of the warehouse", async () => {
    const tables: ReadonlyArray<{ readonly name: string }> = await json("dictionary")
    assert.include(
      tables.map(({ name }) => name),
      "contact_custom_values"
    )
    const { stdout } = await sluice(["dictionary"], {})
    for (const { name } of tables) assert.include(stdout, `\n### ${name}\n`)
  })
})
