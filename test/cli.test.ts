import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { type Account, openAccount } from "./support/account.ts"
import { newFolder, sluice } from "./support/sluice.ts"

const commands = ["demo", "sync", "plan", "status", "publish", "rebuild", "verify", "doctor", "dictionary"]

describe("help", () => {
  it("begins with an example and lists the commands", async () => {
    const { code, stdout } = await sluice(["--help"], {})
    assert.strictEqual(code, 0)
    assert.match(stdout, /^ {2}\.\/sluice /)
    for (const command of [...commands, "sandbox"]) assert.match(stdout, new RegExp(`^ {2}${command} `, "m"))
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

  it("dictionary has a section for each table of its JSON output", async () => {
    const tables: ReadonlyArray<{ readonly name: string }> = await json("dictionary")
    assert.include(
      tables.map(({ name }) => name),
      "contact_custom_values"
    )
    const { stdout } = await sluice(["dictionary"], {})
    for (const { name } of tables) assert.include(stdout, `\n### ${name}\n`)
  })
})
