/** A folder that was restored has people again whom an erasure removed since: commands say so until it is done again. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { outputFiles } from "../../src/output/contents.ts"
import { outputPaths } from "../../src/output/paths.ts"
import { appendRecord } from "../../src/stores/ledger/file.ts"
import { restoredIn } from "../../src/stores/ledger/restored.ts"
import { storeSafeguard } from "../../src/stores/warehouse/meta/safeguards.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { type Account, discard, openPeople } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { templateOf } from "../support/fixtures.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const template = await templateOf({ resources: [], familyByTable: new Map<string, string>() })

it.live("a folder is older than an erasure if its warehouse was written with fewer erased people", () => {
  const output = newFolder()
  const found = Effect.map(restoredIn(output), (one) => one?.level)
  const erase = (at: string, entries: number) =>
    Effect.promise(() => appendRecord(output, at, "erase", { suppressed: { entries }, certificate: "c.json" }))
  const hold = (entries: number) => storeSafeguard(outputFiles.suppressed.name, { entries, sha256: "" })
  return Effect.gen(function* () {
    assert.isUndefined(yield* found)
    yield* hold(2)
    yield* erase("2026-03-01T00:00:00.000Z", 2)
    assert.isUndefined(yield* found)
    yield* erase("2026-03-02T00:00:00.000Z", 3)
    assert.strictEqual(yield* found, "wrong")
    yield* hold(3)
    assert.isUndefined(yield* found)
    for (const [at, level] of [
      ["2026-03-01T12:00:00.000Z", undefined],
      ["2026-03-02T12:00:00.000Z", "note"]
    ] as const) {
      writeFileSync(outputPaths(output).backup, JSON.stringify({ at }))
      assert.strictEqual(yield* found, level, at)
    }
  }).pipe(
    Effect.provide(Warehouse.layer(join(output, "warehouse.duckdb"), { access: "write", memoryMb: 128, template }))
  )
})

describe("a restored folder", () => {
  let account: Account
  let id: string
  const backup = join(newFolder(), "copy")
  const run = (...args: ReadonlyArray<string>) => sluice(args, account.environment)
  const erase = (output = account.output) =>
    sluice(["subject", "erase", "--contact", id, "--all", "--apply", "--reason", "r"], {
      ...account.environment,
      SLUICE_OUTPUT: output
    })
  /** What each of the three commands says of it. */
  const said = async (output = account.output) => {
    const at = { ...account.environment, SLUICE_OUTPUT: output }
    const [sync, status, verify] = [
      await sluice(["sync", ...account.selection], at),
      await sluice(["status"], at),
      await sluice(["verify"], at)
    ].map(({ code, stderr, stdout }) => ({ code, text: stdout + stderr }))
    return { sync: sync!, status: status!, verify: verify! }
  }
  beforeAll(async () => {
    account = await openPeople("locations,contacts", "--contacts", "8")
    assert.strictEqual((await run("sync", ...account.selection)).code, 0)
    const [row] = await query(
      account.warehouse,
      "SELECT id FROM crm.contacts WHERE email IS NOT NULL ORDER BY id LIMIT 1"
    )
    id = String(row!["id"])
    assert.strictEqual((await run("backup", backup)).code, 0)
  })
  afterAll(() => discard(account))
  const isBack = async (output = account.output) =>
    (await query(join(output, "warehouse.duckdb"), `SELECT id FROM crm.contacts WHERE id = '${id}'`)).length > 0

  it(
    "of which the ledger stayed is told by sync, status and verify, until the person is erased again",
    { tags: ["slow"] },
    async () => {
      assert.strictEqual((await erase()).code, 0)
      for (const { text } of Object.values(await said())) assert.notMatch(text, /were restored/)
      // Vault and tables of the backup, and everything else as it is.
      for (const name of ["vault", "warehouse.duckdb"]) {
        rmSync(join(account.output, name), { recursive: true })
        cpSync(join(backup, name), join(account.output, name), { recursive: true })
      }
      assert.isTrue(await isBack())
      const { status, sync, verify } = await said()
      for (const { text } of [sync, status, verify])
        assert.match(text, /older than 1 erasure of the ledger, .* Erase them again; see erasure-\S+\.json/)
      assert.strictEqual(verify.code, 1)
      assert.strictEqual((await erase()).code, 0)
      assert.isFalse(await isBack())
      for (const { text } of Object.values(await said())) assert.notMatch(text, /were restored/)
    }
  )

  it(
    "that was restored whole says of when it is, until somebody is erased, or nobody was",
    { tags: ["slow"] },
    async () => {
      const whole = join(newFolder(), "whole")
      cpSync(backup, whole, { recursive: true })
      for (const { text } of Object.values(await said(whole)))
        assert.match(text, /restored from a backup of 20\S+, and has everybody again who was erased since/)
      assert.strictEqual((await said(whole)).verify.code, 0)
      assert.strictEqual((await erase(whole)).code, 0)
      for (const { text } of Object.values(await said(whole))) assert.notMatch(text, /restored from a backup/)
      const moved = join(newFolder(), "moved")
      cpSync(backup, moved, { recursive: true })
      rmSync(join(moved, "backup.json"))
      for (const { text } of Object.values(await said(moved))) assert.notMatch(text, /restored from a backup/)
      assert.include(readdirSync(moved), "warehouse.duckdb")
    }
  )
})
