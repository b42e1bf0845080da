/** Files that protect people or evidence are not taken for empty when they are lost. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openPeople } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

describe("a lost file", () => {
  let account: Account
  let ids: ReadonlyArray<string>
  const run = (...args: ReadonlyArray<string>) =>
    sluice(args[0] === "sync" ? [...args, ...account.selection] : args, account.environment)
  const erase = (id: string) => run("subject", "erase", "--contact", id, "--all", "--apply", "--reason", "test")
  const contacts = async () =>
    (await query(account.warehouse, "SELECT id FROM crm.contacts ORDER BY id")).map(({ id }) => String(id))
  /** Runs with another content of a file, or without it, and puts it back. */
  const without = async (file: string, use: () => Promise<void>, content?: (before: string) => string) => {
    const path = join(account.output, file)
    renameSync(path, `${path}.kept`)
    if (content) writeFileSync(path, content(readFileSync(`${path}.kept`, "utf8")))
    await use()
    rmSync(path, { force: true })
    renameSync(`${path}.kept`, path)
  }
  beforeAll(async () => {
    account = await openPeople("contacts", "--contacts", "20")
    assert.strictEqual((await run("sync")).code, 0)
    ids = await contacts()
    assert.strictEqual((await erase(ids[0]!)).code, 0)
    // The next run notes the head of the ledger.
    assert.strictEqual((await run("sync")).code, 0)
  })
  afterAll(() => discard(account))

  const isRefused = async (args: ReadonlyArray<string>, message: RegExp) => {
    const { code, stderr } = await run(...args)
    assert.strictEqual(code, 1, stderr)
    assert.match(stderr, message)
    assert.notInclude(await contacts(), ids[0])
  }

  it("is refused if it is the list of erased people, also if entries were removed", { tags: ["slow"] }, async () => {
    const erasing = ["subject", "erase", "--contact", ids[1]!, "--all", "--apply", "--reason", "test"]
    for (const args of [["sync", "--again=all"], erasing])
      await without("suppressed.json", () => isRefused(args, /suppressed\.json: it is missing, and people were erased/))
    const shorter = (text: string) => {
      const list = JSON.parse(text)
      return JSON.stringify({ ...list, entries: list.entries.slice(1) })
    }
    await without(
      "suppressed.json",
      () => isRefused(["sync", "--again=all"], /it has \d+ entries, and had \d+/),
      shorter
    )
    rmSync(join(account.output, "erasure.json"), { force: true })
    const { code, stderr } = await run("sync", "--again=all")
    assert.strictEqual(code, 0, stderr)
    assert.notInclude(await contacts(), ids[0])
  })

  it("is refused if a rebuild made the warehouse anew in between", async () => {
    assert.strictEqual((await run("rebuild")).code, 0)
    await without("suppressed.json", () => isRefused(["sync", "--again=all"], /it is missing, and people were erased/))
  })

  it("is refused if it had a hold, until the hold is released by name", { tags: ["slow"] }, async () => {
    const held = ids[2]!
    assert.strictEqual((await run("hold", "add", "case-1", "--contact", held, "--reason", "court")).code, 0)
    const message = /holds\.json: the hold case-1 of the ledger is missing or was changed/
    const erasing = ["subject", "erase", "--contact", held, "--all", "--apply", "--reason", "test"]
    await without("holds.json", () => isRefused(erasing, message))
    await without(
      "holds.json",
      () => isRefused(erasing, message),
      (text) => text.replace(held, ids[3]!)
    )
    assert.include(await contacts(), held)
    rmSync(join(account.output, "holds.json"))
    assert.strictEqual((await run("hold", "release", "case-1")).code, 0)
    assert.strictEqual((await erase(held)).code, 0)
  })

  it("is refused if it is the ledger, which is not begun anew, or lost its last records", async () => {
    assert.strictEqual((await run("sync")).code, 0)
    await without("ledger.jsonl", () => isRefused(["sync"], /ledger\.jsonl: it has 0 records, and the warehouse knows/))
    const shorter = (text: string) => text.split("\n").slice(0, -4).concat("").join("\n")
    await without(
      "ledger.jsonl",
      async () => {
        await isRefused(["sync"], /ledger\.jsonl: it has \d+ records, and the warehouse knows of \d+/)
        const { code, stdout } = await run("ledger", "verify")
        assert.strictEqual(code, 1)
        assert.match(stdout, /WRONG .*the warehouse knows of/)
      },
      shorter
    )
    assert.strictEqual((await run("ledger", "verify")).code, 0)
    const [certificate] = readdirSync(join(account.output, "certificates"))
    await without(join("certificates", certificate!), async () => {
      const { code, stdout } = await run("ledger", "verify")
      assert.strictEqual(code, 1)
      assert.match(stdout, /its record is in the ledger, and the file is missing/)
    })
  })
})
