/** Definitions of the user's own, which Node imports as they are: in a process of its own, not by the test runner. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { query } from "../support/compare.ts"
import { type Service, startService } from "../support/service.ts"
import { environmentOf, newFolder } from "../support/sluice.ts"
import { start } from "../support/process.ts"

const example = fileURLToPath(new URL("../../examples/pipelines/my-pipelines", import.meta.url))

const sluice = (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>>) =>
  start(args, environment).ended

describe("own definitions", () => {
  let service: Service
  beforeAll(async () => {
    service = await startService("--limits", "off", "--contacts", "40")
  })
  afterAll(() => service.stop())

  const only = ["--only", "contacts,contact_tasks"]
  const checked = async (...files: ReadonlyArray<readonly [name: string, text: string]>) => {
    const folder = newFolder()
    for (const [name, text] of files) {
      mkdirSync(join(folder, "own"), { recursive: true })
      writeFileSync(join(folder, "own", name), text)
    }
    return sluice(["pipelines", "check", folder], { SLUICE_OUTPUT: newFolder() })
  }
  const source = readFileSync(join(example, "crm/contact_tasks.ts"), "utf8")

  it("are synced, incrementally too, published, documented and rebuilt like those of sluice", async () => {
    const output = newFolder()
    const environment = { ...environmentOf(service, output), SLUICE_PIPELINES: example, SLUICE_FORMATS: "csv" }
    const synced = await sluice(["sync", ...only], environment)
    assert.strictEqual(synced.code, 0, synced.stderr)
    const expected = (await service.records("tasks")).map(({ id, title }) => ({ id, title }))
    const rows = () => query(join(output, "warehouse.duckdb"), "SELECT id, title FROM crm.contact_tasks ORDER BY id")
    const byId = (a: { id: unknown }, b: { id: unknown }) => (String(a.id) < String(b.id) ? -1 : 1)
    assert.isAbove(expected.length, 3)
    assert.deepStrictEqual(await rows(), expected.sort(byId))
    assert.isTrue(existsSync(join(output, "published/csv/contact_tasks.csv")))

    const before = (await service.stats()).requests
    const again = await sluice(["sync", ...only], environment)
    assert.strictEqual(again.code, 0, again.stderr)
    assert.isAtMost((await service.stats()).requests - before, 5)

    const dictionary = await sluice(["dictionary", "contact_tasks"], environment)
    assert.match(dictionary.stdout, /Tasks, as each contact shows them\./)
    const rebuilt = await sluice(["rebuild"], environment)
    assert.strictEqual(rebuilt.code, 0, rebuilt.stderr)
    assert.deepStrictEqual(await rows(), expected)
  })

  it("may be named like a wide table, which none of them is", async () => {
    const [folder, output] = [newFolder(), newFolder()]
    mkdirSync(join(folder, "crm"))
    writeFileSync(
      join(folder, "crm/contacts_wide_tasks.ts"),
      source.replaceAll("contact_tasks", "contacts_wide_tasks").replaceAll("contactTasks", "contactsWideTasks")
    )
    const environment = { ...environmentOf(service, output), SLUICE_PIPELINES: folder }
    for (const round of ["first", "second"]) {
      const ran = await sluice(["sync", "--only", "contacts,contacts_wide_tasks"], environment)
      assert.strictEqual(ran.code, 0, `${round}: ${ran.stderr}`)
    }
    const rows = await sluice(["publish", "--stdout", "contacts_wide_tasks", "--format", "ndjson"], environment)
    assert.strictEqual(rows.code, 0, rows.stderr)
    assert.lengthOf(rows.stdout.trim().split("\n"), (await service.records("tasks")).length)
  })

  it("leave their table when they are removed, and go on when they are back", async () => {
    const output = newFolder()
    const environment = environmentOf(service, output)
    const withOwn = { ...environment, SLUICE_PIPELINES: example }
    assert.strictEqual((await sluice(["sync", ...only], withOwn)).code, 0)
    const count = () =>
      query(join(output, "warehouse.duckdb"), "SELECT count(*)::INTEGER AS rows FROM crm.contact_tasks")
    const before = await count()
    for (const command of [["sync", "--only", "contacts"], ["status"], ["publish"], ["verify"]]) {
      const ran = await sluice(command, environment)
      assert.strictEqual(ran.code, 0, `${command.join(" ")}: ${ran.stderr}`)
    }
    assert.deepStrictEqual(await count(), before)
    const back = await sluice(["sync", ...only], withOwn)
    assert.strictEqual(back.code, 0, back.stderr)
    assert.deepStrictEqual(await count(), before)
    const verified = await sluice(["verify"], environment)
    assert.match(
      verified.stderr,
      /note +vault: contact_tasks: no definition describes this table, so it was not checked/
    )
    const without = await sluice(["rebuild"], environment)
    assert.strictEqual(without.code, 78, without.stderr)
    assert.match(without.stderr, /No definition describes the tables contact_tasks.*Nothing was replaced/)
    assert.deepStrictEqual(await count(), before)
  })

  it("are checked", async () => {
    const { code, stdout } = await checked(["contact_tasks.ts", source])
    assert.strictEqual(code, 0, stdout)
    assert.match(stdout, /contact_tasks +own +\d+ +0 +/)
  })

  it.each<readonly [what: string, file: string, text: string, line: number, reason: RegExp]>([
    ["text that is not TypeScript", "a.ts", "export const a =\n  {{{", 2, /./],
    ["an unknown import", "a.ts", 'import { x } from "sluice/catalog/nothing"\nexport const a = x', 1, /nothing/],
    ["a file that throws", "a.ts", "const a = undefined\n\nexport const b = a.c", 3, /undefined/],
    ["another name than the table's", "tasks_of_contacts.ts", source, 7, /of table tasks_of_contacts/],
    [
      "a table of sluice",
      "contacts.ts",
      source.replaceAll("contact_tasks", "contacts"),
      7,
      /contacts is defined twice/
    ],
    [
      "a parent that does not exist",
      "contact_tasks.ts",
      source.replace('table: "contacts"', 'table: "people"'),
      12,
      /people/
    ],
    ["a reference that does not exist", "contact_tasks.ts", source.replace('"users"', '"team"'), 24, /team/],
    ["a column that is a reserved word", "contact_tasks.ts", source.replace("completed:", "order:"), 26, /order/],
    ["a missing description", "contact_tasks.ts", source.replace(/Tasks, as .*\./, ""), 8, /not a sentence/],
    [
      "a version column that does not exist",
      "contact_tasks.ts",
      source.replace("date_updated", "x"),
      14,
      /version column x/
    ]
  ])("with %s are reported with file and line", async (_, file, text, line, reason) => {
    const { code, stdout } = await checked([file, text])
    assert.strictEqual(code, 78, stdout)
    const found = stdout.split("\n").find((one) => one.includes(`own/${file}:${line}: `))
    assert.match(found ?? stdout, new RegExp(`own/${file}:${line}: .*${reason.source}`))
  })

  it("with mistakes stop every command, before a request", async () => {
    const folder = newFolder()
    cpSync(example, folder, { recursive: true })
    writeFileSync(join(folder, "crm/broken.ts"), "export const broken = nothing")
    const environment = { ...environmentOf(service, newFolder()), SLUICE_PIPELINES: folder }
    const before = (await service.stats()).requests
    for (const command of ["sync", "plan", "status", "dictionary"]) {
      const { code, stderr } = await sluice([command], environment)
      assert.strictEqual(code, 78, stderr)
      assert.match(stderr, /broken\.ts:1: nothing is not defined/)
      assert.match(stderr, /Next: \.\/sluice pipelines check/)
    }
    assert.strictEqual((await service.stats()).requests, before)
    const missing = await sluice(["sync"], { ...environment, SLUICE_PIPELINES: join(folder, "absent") })
    assert.strictEqual(missing.code, 78)
    assert.match(missing.stderr, /pipelines\.folder: .*absent cannot be read: ENOENT/)
  })
})
