import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { vi } from "vitest"
import { runSandbox } from "../sandbox/main.ts"
import { allCommands } from "../src/cli/commands.ts"
import { type Account, openAccount } from "./support/account.ts"
import { query } from "./support/compare.ts"
import { newFolder, sluice } from "./support/sluice.ts"

const listed = allCommands().subcommands.map(({ name }) => name)
// The sandbox has help of its own.
const commands = listed.filter((command) => command !== "sandbox")

describe("help", () => {
  it("explains on a screen the commands of every night, and names the others", async () => {
    const { code, stdout } = await sluice(["--help"], {})
    assert.strictEqual(code, 0)
    assert.match(stdout, /^ {2}\.\/sluice /)
    assert.isBelow(stdout.split("\n").length, 60)
    for (const command of ["init", "sync", "status", "schedule"])
      assert.match(stdout, new RegExp(`^ {2}${command} +[A-Z]`, "m"))
    const words = new Set(stdout.match(/\w+/g))
    assert.deepStrictEqual(
      listed.filter((command) => !words.has(command)),
      []
    )
  })

  it("of all explains exactly the commands of docs/commands.md", async () => {
    const { stdout } = await sluice(["help", "--all"], {})
    const named = Array.from(stdout.matchAll(/^ {2}(\w+) /gm), ([, command]) => command!)
    const page = readFileSync(new URL("../docs/commands.md", import.meta.url), "utf8")
    const described = Array.from(page.matchAll(/^## sluice (\w+)/gm), ([, command]) => command!)
    assert.deepStrictEqual(named.toSorted(), described.toSorted())
  })

  it.each(["", ...commands, "config show", "config validate"])(
    "of %j has no line that is longer than 80 columns, and at most two sentences for each flag",
    async (command) => {
      const { stdout } = await sluice([...command.split(" ").filter(Boolean), "--help"], {})
      assert.deepStrictEqual(
        stdout.split("\n").filter((line) => line.length > 80),
        []
      )
      const descriptions = stdout.split(/^ {2}(?=-)/m).slice(1)
      assert.isAbove(descriptions.length, 1)
      for (const description of descriptions) {
        const sentences =
          description
            .split("\n\n")[0]!
            .replaceAll(/\s+/g, " ")
            .match(/[.!?](?= |$)/g) ?? []
        assert.isAtMost(sentences.length, 2, description)
      }
    }
  )

  it.each([
    ["help", ["--help"]],
    ["help sync", ["sync", "--help"]],
    ["help config show", ["config", "show", "--help"]]
  ])("is printed by %s", async (command, args) => {
    const { code, stdout } = await sluice(command.split(" "), {})
    assert.strictEqual(code, 0)
    assert.strictEqual(stdout, (await sluice(args, {})).stdout)
  })

  it("of the sandbox names its command and has no line that is longer than 80 columns", async () => {
    const stdout: Array<string> = []
    const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => stdout.push(String(text)) > 0)
    const code = await runSandbox(["--help"]).finally(() => write.mockRestore())
    assert.strictEqual(code, 0)
    assert.match(stdout.join(""), /^Example:\n {2}\.\/sluice sandbox /)
    assert.deepStrictEqual(
      stdout
        .join("")
        .split("\n")
        .filter((line) => line.length > 80),
      []
    )
  })

  it.each(commands)("of %s names the command in its first two lines", async (command) => {
    const { code, stdout } = await sluice([command, "--help"], {})
    assert.strictEqual(code, 0)
    assert.match(stdout.split("\n").slice(0, 2).join("\n"), new RegExp(command))
  })
})

describe("completions", () => {
  it.each(["bash", "zsh", "fish"])("for %s name the commands, the flags and the tables", async (shell) => {
    const { code, stdout } = await sluice(["completions", shell], {})
    assert.strictEqual(code, 0)
    for (const name of [...listed, "accept-deletions", "contact_custom_values", "payments", "contacts_wide"])
      assert.include(stdout, name)
  })

  it("for bash complete a table name after --only", async () => {
    const { stdout } = await sluice(["completions", "bash"], {})
    const line = "./sluice sync --only contact_n"
    const script = [
      stdout,
      // As bash calls the function for this line.
      `COMP_WORDS=(${line}); COMP_CWORD=3; COMP_LINE="${line}"; COMP_POINT=\${#COMP_LINE}`,
      "$(complete -p sluice | sed -E 's/.*-F ([^ ]+).*/\\1/') ./sluice contact_n --only",
      `printf '%s\\n' "\${COMPREPLY[@]}"`
    ].join("\n")
    const completed = execFileSync("bash", { encoding: "utf8", input: script }).trim().split("\n")
    assert.deepStrictEqual(completed, ["contact_note_relations", "contact_notes"])
  })
})

describe("the commands", () => {
  let account: Account
  const json = async (...args: ReadonlyArray<string>) => {
    const ran = await sluice([...args, "--json"], account.environment)
    assert.strictEqual(ran.code, 0, ran.stderr)
    return JSON.parse(ran.stdout).data
  }
  beforeAll(async () => {
    account = await openAccount("--contacts", "40", "--limits", "100/200/200000")
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

  it("status reports the requests of the last run", { tags: ["slow"] }, async () => {
    const synced = await json("sync")
    const { lastRun } = await json("status")
    assert.strictEqual(lastRun.id, synced.run)
    assert.strictEqual(lastRun.requests, synced.requests)
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
    const { tables: described }: { readonly tables: ReadonlyArray<{ readonly name: string }> } =
      await json("dictionary")
    assert.deepStrictEqual(described.map(({ name }) => name).sort(), tables)
    const { stdout } = await sluice(["dictionary"], {})
    const sections = Array.from(stdout.matchAll(/^### (\w+)$/gm), ([, name]) => name!)
    assert.deepStrictEqual(sections.sort(), tables)
  })
})
