/** `sluice subject erase`: nothing of the person stays or comes back, and everything else is as before. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, lstatSync, readFileSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openTables } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { type Rows, contentsOf, filesBelow } from "../support/contents.ts"
import { start } from "../support/process.ts"
import { unmount } from "../support/small-disk.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { type Planted, plant, planted } from "../subject/planted.ts"

describe("an erasure", () => {
  let account: Account
  let person: Planted
  let before: Rows
  const identifying = ["xenia", "quillfeather", "x.quill@other", "4155550199"]
  const environment = () => ({ ...account.environment, SLUICE_FORMATS: "duckdb,parquet,csv" })
  const run = (...args: ReadonlyArray<string>) =>
    sluice(args[0] === "sync" ? [...args, ...account.selection] : args, environment())
  const erase = (...args: ReadonlyArray<string>) => run("subject", "erase", "--email", planted.email, ...args)
  /** The rows in which the person is named: the rest must not change. */
  const ofOthers = (contents: Rows): Rows => {
    const own = [...before.values()].flat().filter((row) => row.includes(person.contact) || row.includes(planted.email))
    const ids = [
      person.contact,
      ...own.map((row) => String((JSON.parse(row) as { readonly id?: string }).id ?? person.contact))
    ]
    return new Map(
      [...contents].map(([table, rows]) => [table, rows.filter((row) => !ids.some((id) => row.includes(id)))])
    )
  }
  const left = () =>
    filesBelow(account.output).flatMap(([path, content]) =>
      identifying.filter((text) => content.includes(text)).map((text) => `${path}: ${text}`)
    )
  const inTables = async () => {
    const contents = await contentsOf(account.warehouse)
    return [...contents].flatMap(([table, rows]) =>
      rows
        .filter((row) => identifying.some((text) => row.toLowerCase().includes(text)) || row.includes(person.contact))
        .map((row) => `${table} ${row}`)
    )
  }
  beforeAll(async () => {
    account = await openTables(
      "users,contacts,contact_notes,tasks,pipelines,opportunities,calendars,appointments,conversations,messages,invoices,estimates,orders,transactions,subscriptions,form_submissions,survey_submissions",
      "--contacts",
      "25"
    )
    person = await plant(account.service)
    // The free text of somebody else has a test of its own.
    await account.service.post("remove", { collection: "notes", id: person.note })
    assert.strictEqual((await run("sync")).code, 0)
    // An earlier version of a row, a rejected value and a deletion contain the person too.
    await account.service.post("change", { contacts: 1, opportunities: 0.5, seed: 3 })
    await account.service.post("remove", { collection: "tasks", id: person.ids["tasks"]![0] })
    assert.strictEqual((await run("sync", "--again=all")).code, 0)
    before = await contentsOf(account.warehouse)
    assert.isAbove((await inTables()).length, 20)
  })
  afterAll(() => discard(account))

  it("without --apply prints the rows and changes nothing", async () => {
    const { code, stdout, stderr } = await erase()
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, /^contacts +2$/m)
    assert.match(stdout, /records and 0 files would be erased\. Nothing was changed\./)
    assert.deepStrictEqual(await contentsOf(account.warehouse), before)
    assert.strictEqual((await erase("--apply")).code, 2, "a reason is missing")
  })

  it("leaves no trace in any file, everything else as it was, and a certificate that names nobody", async () => {
    assert.strictEqual((await run("export", "bundle", join(newFolder(), "bundle"), "--only", "contacts")).code, 0)
    const { code, stderr, stdout } = await erase("--apply", "--reason", "a request")
    assert.strictEqual(code, 0, `${stdout}\n${stderr}`)
    assert.deepStrictEqual(left(), [])
    assert.deepStrictEqual(await inTables(), [])
    assert.deepStrictEqual(ofOthers(await contentsOf(account.warehouse)), ofOthers(before))
    const [file] = readdirSync(join(account.output, "certificates"))
    const certificate = JSON.parse(readFileSync(join(account.output, "certificates", file!), "utf8"))
    assert.deepInclude(certificate, { reason: "a request", isErased: true })
    assert.match(stderr, /Exports made earlier may contain what was erased: bundle of 20/)
    const ledger = await run("ledger", "verify")
    assert.strictEqual(ledger.code, 0, ledger.stderr)
    assert.include((await run("ledger", "show")).stdout, "erase")
    assert.isAbove(certificate.records, 13)
    assert.isAbove(certificate.segments.length, 0)
    assert.notEqual(certificate.warehouse.before, certificate.warehouse.after)
    const [published] = await query(join(account.output, "published/crm.duckdb"), "SELECT count(*) AS n FROM contacts")
    assert.strictEqual(published!["n"], String(before.get("crm.contacts")!.length - 1))
  })

  it.each([
    ["verify"],
    ["rebuild"],
    ["sync", "--again=all"],
    ["backfill", "--from", "2024-01-01", "--only", "contacts,messages,opportunities"]
  ])("is not undone by %s %s", async (...args) => {
    const { code, stderr, stdout } = await run(...args)
    assert.strictEqual(code, 0, `${stdout}\n${stderr}`)
    assert.deepStrictEqual(await inTables(), [])
    assert.deepStrictEqual(left(), [])
    const { size } = new Set((await contentsOf(account.warehouse)).get("crm.contacts"))
    assert.strictEqual(size, before.get("crm.contacts")!.length - 1)
    if (args.join(" ") === "sync --again=all")
      assert.match(stderr, /\d+ records of erased people received and not stored/)
  })

  it("of somebody who is gone finds nobody, and an empty plan", async () => {
    const { code, stdout } = await erase()
    assert.strictEqual(code, 0)
    assert.match(stdout, /^0 records/m)
  })
})

describe("an erasure that is interrupted", () => {
  let account: Account
  let expected: ReadonlyArray<ReadonlyArray<unknown>>
  let duration: number
  let environment: Readonly<Record<string, string>>
  let args: ReadonlyArray<string>
  const endOf = async (output: string) =>
    [...(await contentsOf(join(output, "warehouse.duckdb"))), ...filesBelow(join(output, "published/csv"))].map(
      ([name, content]) => [name.replace(output, ""), content]
    )
  const inCopy = (output = newFolder()) => {
    cpSync(account.output, output, { recursive: true, verbatimSymlinks: true })
    return { output, environment: { ...environment, SLUICE_OUTPUT: output } }
  }
  beforeAll(async () => {
    account = await openTables("contacts,contact_notes,opportunities,conversations,messages", "--contacts", "25")
    const person = await plant(account.service, ["notes", "opportunities", "conversations", "messages"])
    environment = { ...account.environment, SLUICE_FORMATS: "csv" }
    assert.strictEqual((await sluice(["sync", ...account.selection], environment)).code, 0)
    args = ["subject", "erase", "--contact", person.contact, "--all", "--apply", "--reason", "a request"]
    const undisturbed = inCopy()
    const startedAt = Date.now()
    const whole = await start(args, undisturbed.environment).ended
    assert.strictEqual(whole.code, 3, `${whole.stderr}: the note of somebody else names the person`)
    assert.match(whole.stderr, /crm\.contact_notes\.body contains the email/)
    duration = Date.now() - startedAt
    expected = await endOf(undisturbed.output)
    assert.isTrue(expected.every(([, content]) => !String(content).includes(person.contact)))
  })
  afterAll(() => discard(account))

  it("by kill -9 ends as an undisturbed one when it is repeated, whenever it was killed", async () => {
    const instants = Number(process.env["SLUICE_KILLS"] ?? 2)
    let killed = 0
    for (let index = 0; index < instants; index++) {
      const { environment, output } = inCopy()
      const running = start(args, environment)
      setTimeout(() => running.kill("SIGKILL"), duration * (0.15 + (0.8 * (index + 0.5)) / instants))
      if ((await running.ended).code === null) killed++
      const again = await start(args, environment).ended
      // Killed after its end was recorded, nobody is known any more.
      assert.include([3, 1], again.code, again.stderr)
      assert.deepStrictEqual(await endOf(output), expected, `killed at instant ${index} of ${instants}`)
      assert.isFalse(existsSync(join(output, "erasure.json")))
      rmSync(output, { recursive: true })
    }
    assert.isAtLeast(killed, Math.floor(instants / 2))
  })

  it("by a full disk says so, and ends as an undisturbed one when it is repeated with more space", async (context) => {
    const disk = newFolder()
    const sizes = readdirSync(account.output, { recursive: true, encoding: "utf8" }).map(
      (file) => lstatSync(join(account.output, file)).blocks
    )
    const used = Math.ceil(sizes.reduce((sum, blocks) => sum + blocks, 0) / 2)
    const mount = (options: string) => execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", disk])
    try {
      mount(`size=${used + 1500}k`)
    } catch {
      return context.skip("needs the right to mount a small file system")
    }
    try {
      const { environment, output } = inCopy(join(disk, "output"))
      const before = await contentsOf(join(output, "warehouse.duckdb"))
      const { code, stderr } = await start(args, environment).ended
      assert.strictEqual(code, 1, stderr)
      assert.match(stderr, /ENOSPC|No space left|could not write|disk/i)
      assert.deepStrictEqual(await contentsOf(join(output, "warehouse.duckdb")), before)
      mount(`remount,size=${used * 4 + 40_000}k`)
      const again = await start(args, environment).ended
      assert.strictEqual(again.code, 3, again.stderr)
      assert.match(again.stderr, /was stopped, and continues/)
      assert.deepStrictEqual(await endOf(output), expected)
    } finally {
      unmount(disk)
    }
  })
})
