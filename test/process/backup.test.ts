/** A backup is an output folder from which syncs continue; half of one is refused. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { type Account, accountIn, discard, openSynced } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { start } from "../support/process.ts"
import { smallDisk, unmount } from "../support/small-disk.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const tables = "locations,contacts,contact_notes,conversations,messages"

describe("sluice backup", () => {
  let account: Account
  let folder: string
  const backup = (target: string, ...flags: ReadonlyArray<string>) =>
    sluice(["backup", target, ...flags], account.environment)
  beforeAll(async () => {
    account = await openSynced({ tables, formats: "duckdb" })
    folder = newFolder()
    writeFileSync(join(account.output, "tokens.json"), "{}", { mode: 0o600 })
    mkdirSync(join(account.output, "queries"))
    writeFileSync(join(account.output, "queries", "mine.sql"), "SELECT 1")
    const [contact] = await account.service.records("contacts")
    const erase = ["subject", "erase", "--contact", String(contact!["id"]), "--apply", "--reason", "test"]
    const erased = await sluice(erase, account.environment)
    assert.include([0, 3], erased.code, erased.stderr)
  }, 60_000)
  afterAll(() => {
    discard(account)
    rmSync(folder, { recursive: true })
  })

  it(
    "is continued elsewhere by a sync that reads the changes only, and keeps erased people out",
    { timeout: 60_000 },
    async () => {
      const target = join(folder, "one")
      const made = await backup(target, "--json")
      assert.strictEqual(made.code, 0, made.stderr)
      const { data } = JSON.parse(made.stdout)
      assert.deepStrictEqual(data.secrets, ["suppressed.key"])
      assert.deepStrictEqual(data.leftOut, ["tokens.json"])
      const names = readdirSync(target)
      assert.includeMembers(names, [
        "vault",
        "warehouse.duckdb",
        "ledger.jsonl",
        "suppressed.json",
        "queries",
        "certificates"
      ])
      for (const name of ["tokens.json", "published", ".published", "backup.incomplete", "holder.json"])
        assert.notInclude(names, name)
      for (const path of readdirSync(target, { recursive: true }).map((name) => join(target, String(name))))
        assert.strictEqual(statSync(path).mode & 0o077, 0, path)
      // The checksums are those of another program.
      const listed = JSON.parse(readFileSync(join(target, "backup.json"), "utf8")).files as Array<{
        path: string
        sha256: string
      }>
      const sums = listed.map(({ path, sha256 }) => `${sha256}  ${path}\n`).join("")
      execFileSync("sha256sum", ["--check", "--strict", "--quiet"], { cwd: target, input: sums })

      const restored = accountIn(join(folder, "restored"), account.service, tables)
      renameSync(target, restored.output)
      const verified = await sluice(["verify", "--all"], restored.environment)
      assert.strictEqual(verified.code, 0, verified.stdout + verified.stderr)
      const full = (await query(account.warehouse, "SELECT sum(requests) AS n FROM meta.runs"))[0]!["n"]
      const synced = await restored.sync("--json")
      assert.strictEqual(synced.code, 0, synced.stderr)
      const { requests } = JSON.parse(synced.stdout).data
      assert.isBelow(requests, Number(full) / 4)
      const here = await account.sync("--json")
      assert.strictEqual(JSON.parse(here.stdout).data.requests, requests)
      const rows = "SELECT count(*) AS n, bit_xor(hash(id)) AS h FROM crm.contacts"
      assert.deepStrictEqual(await query(restored.warehouse, rows), await query(account.warehouse, rows))
      assert.strictEqual((await sluice(["ledger", "verify"], restored.environment)).code, 0)
      const again = await restored.sync("--again=all", "--json")
      assert.isAbove(JSON.parse(again.stdout).data.suppressedRecords, 0, again.stdout)
    }
  )

  it("goes into no folder with files, none of the output folder, and follows no link", async () => {
    const used = join(folder, "used")
    mkdirSync(used)
    writeFileSync(join(used, "a"), "mine")
    for (const target of [
      used,
      join(account.output, "inside"),
      join(account.output, "vault"),
      folder,
      join(account.output, "..")
    ]) {
      const { code, stderr } = await backup(target)
      assert.strictEqual(code, 2, `${target}: ${stderr}`)
    }
    assert.deepStrictEqual(readdirSync(used), ["a"])
    const [vault, moved] = [join(account.output, "vault"), join(folder, "vault")]
    renameSync(vault, moved)
    symlinkSync(moved, vault)
    const linked = await backup(join(folder, "linked"))
    rmSync(vault)
    renameSync(moved, vault)
    assert.strictEqual(linked.code, 1)
    assert.match(linked.stderr, /vault is a link/)
    assert.isFalse(existsSync(join(folder, "linked")))
  })

  it("is compared with its checksums", async () => {
    const target = join(folder, "compared")
    assert.strictEqual((await backup(target, "--tokens")).code, 0)
    assert.isTrue(existsSync(join(target, "tokens.json")))
    assert.strictEqual((await backup(target, "--check")).code, 0)
    const file = join(target, "warehouse.duckdb")
    const bytes = readFileSync(file)
    bytes[bytes.length - 1]! ^= 1
    writeFileSync(file, bytes)
    rmSync(join(target, "queries", "mine.sql"))
    writeFileSync(join(target, "notes.txt"), "")
    const { code, stdout } = await backup(target, "--check", "--json")
    assert.strictEqual(code, 1)
    assert.deepStrictEqual(JSON.parse(stdout).data.problems, [
      { path: "queries/mine.sql", problem: "it is missing" },
      { path: "warehouse.duckdb", problem: "its content is not what it was" },
      { path: "notes.txt", problem: "it was added" }
    ])
    assert.strictEqual((await backup(join(folder, "used"), "--check")).code, 2)
  })

  it("is refused by every command if it was killed", { timeout: 60_000 }, async () => {
    const target = join(folder, "killed")
    const large = join(account.output, "files", "large")
    mkdirSync(join(account.output, "files"), { recursive: true })
    writeFileSync(large, Buffer.alloc(300_000_000))
    const running = start(["backup", target], account.environment)
    while (!existsSync(join(target, "files", "large"))) await new Promise((next) => setTimeout(next, 5))
    running.kill("SIGKILL")
    await running.ended
    rmSync(large)
    assert.isTrue(existsSync(join(target, "backup.incomplete")))
    const inTarget = { ...account.environment, SLUICE_OUTPUT: target }
    for (const args of [["sync"], ["verify"], ["status"], ["backup", target, "--check"]]) {
      const { code, stderr } = await sluice(args, inTarget)
      assert.strictEqual(code, 1, args.join(" "))
      assert.include(stderr, "not written to its end", args.join(" "))
    }
    assert.strictEqual((await backup(target)).code, 1)
    const half = join(folder, "half")
    assert.strictEqual((await backup(half)).code, 0)
    writeFileSync(join(half, "backup.incomplete"), "")
    for (const args of [["publish"], ["rebuild"], ["prune", "--apply"], ["sync"]]) {
      const { code, stderr } = await sluice(args, { ...account.environment, SLUICE_OUTPUT: half })
      assert.strictEqual(code, 1, args.join(" "))
      assert.include(stderr, "not written to its end", args.join(" "))
    }
    // The folder that was copied is as it was.
    assert.strictEqual((await account.sync()).code, 0)
  })

  it("leaves nothing on a disk that is full", async (context) => {
    const disk = smallDisk()
    if (!disk) return context.skip("needs the right to mount a small file system")
    try {
      const large = join(account.output, "files", "large")
      writeFileSync(large, Buffer.alloc(20_000_000))
      const { code, stderr } = await backup(disk)
      rmSync(large)
      assert.strictEqual(code, 1, stderr)
      assert.match(stderr, /ENOSPC|No space left/i)
      assert.deepStrictEqual(readdirSync(disk), [])
    } finally {
      unmount(disk)
    }
  })
})
