/** The record comes before the data leave: what the ledger cannot record is not handed out, and what it lacks is found. */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdirSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openPeople } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { checkAppendable } from "../../src/stores/ledger/file.ts"

it("a ledger that takes a record is left as it is, and a folder without one too", async () => {
  const output = newFolder()
  await checkAppendable(output)
  await checkAppendable(output)
  assert.deepStrictEqual(readdirSync(output), [])
  writeFileSync(join(output, "ledger.jsonl"), "no record\n")
  const refused = await checkAppendable(output).then(
    () => "taken",
    (cause: Error) => cause.message
  )
  assert.match(refused, /its last line is not a record/)
})

/** A folder has the name of its lock. */
describe("a ledger that takes no record", { tags: ["slow"] }, () => {
  let account: Account
  let lock: string
  const folder = newFolder()
  const run = (...args: ReadonlyArray<string>) => sluice(args, { ...account.environment, SLUICE_FORMATS: "duckdb" })
  beforeAll(async () => {
    account = await openPeople("locations,contacts", "--contacts", "12")
    assert.strictEqual((await run("sync", ...account.selection)).code, 0)
    lock = join(account.output, "ledger.lock")
    rmSync(lock)
    mkdirSync(lock)
  })
  afterEach(() => assert.deepStrictEqual(readdirSync(folder), []))
  afterAll(() => {
    discard(account)
    rmSync(folder, { recursive: true })
  })

  it.each([
    ["workbook", (): ReadonlyArray<string> => ["export", "excel", join(folder, "x.xlsx"), "--only", "contacts"]],
    ["bundle", () => ["export", "bundle", join(folder, "audit")]],
    ["archive", () => ["export", "bundle", join(folder, "audit.zip")]],
    ["backup", () => ["backup", join(folder, "copy")]]
  ])("hands out no %s, and leaves no part of it", async (_, args) => {
    const { code, stderr } = await run(...args())
    assert.strictEqual(code, 1, stderr)
    assert.match(stderr, /ledger/)
    rmSync(join(folder, "copy"), { recursive: true, force: true })
  })

  it("hands out no export about a person", async () => {
    const [row] = await query(account.warehouse, "SELECT id FROM crm.contacts LIMIT 1")
    const { code } = await run("subject", "export", "--contact", String(row!["id"]), "--to", join(folder, "person"))
    assert.strictEqual(code, 1)
  })

  it("hands out no release, and what was read stays", async () => {
    const published = join(account.output, "published")
    const before = readlinkSync(published)
    await account.service.post("change", { contacts: 0.5, seed: 3 })
    const { code, stderr } = await run("sync", ...account.selection)
    assert.strictEqual(code, 1, stderr)
    assert.strictEqual(readlinkSync(published), before)
    rmSync(lock, { recursive: true })
    assert.strictEqual((await run("sync", ...account.selection)).code, 0)
    assert.notStrictEqual(readlinkSync(published), before)
  })
})

it("a ledger whose first record does not follow the first run is a finding", { tags: ["slow"] }, async () => {
  const account = await openPeople("locations,contacts", "--contacts", "5")
  const run = (...args: ReadonlyArray<string>) => sluice(args, account.environment)
  const lock = join(account.output, "ledger.lock")
  try {
    mkdirSync(lock, { recursive: true })
    assert.strictEqual((await run("sync", ...account.selection)).code, 1)
    rmSync(lock, { recursive: true })
    assert.strictEqual((await run("sync", ...account.selection)).code, 0)
    const { code, stdout } = await run("ledger", "verify", "--json")
    assert.strictEqual(code, 1)
    const { findings } = JSON.parse(stdout).data
    assert.strictEqual(findings.length, 1)
    assert.match(findings[0], /run \S+ has no record/)
  } finally {
    discard(account)
  }
})

it("no room for temporary files elsewhere keeps no record from a run", { tags: ["slow"] }, async () => {
  const account = await openPeople("locations,contacts", "--contacts", "5")
  const { TMPDIR } = process.env
  process.env["TMPDIR"] = "/nonexistent/tmp"
  try {
    const { code, stderr } = await sluice(["sync", ...account.selection], account.environment)
    assert.strictEqual(code, 0, stderr)
    assert.strictEqual(readFileSync(join(account.output, "ledger.jsonl"), "utf8").trimEnd().split("\n").length, 1)
  } finally {
    if (TMPDIR === undefined) delete process.env["TMPDIR"]
    else process.env["TMPDIR"] = TMPDIR
    discard(account)
  }
})
