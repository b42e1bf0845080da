import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard } from "../support/account.ts"
import { flip, openSynced } from "../support/broken.ts"
import { copyOf } from "../support/fixtures.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

let account: Account
beforeAll(async () => {
  account = await openSynced("few")
})
afterAll(() => discard(account))

/** Runs a test in a copy of an account's folder. */
const inCopy = async (
  use: (folder: string, run: (...args: ReadonlyArray<string>) => ReturnType<typeof sluice>) => unknown,
  { environment: given, output } = account
) => {
  const folder = copyOf(output)
  const environment = { ...given, SLUICE_OUTPUT: folder }
  try {
    await use(folder, (...args) => sluice(args, environment))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
const ask = (folder: string, sql: string) => query(join(folder, "warehouse.duckdb"), sql)

describe("a rebuild", () => {
  it("keeps the runs, the coverage and the schema changes", { tags: ["slow"] }, async () => {
    const drifting = await openSynced("drifting")
    drifting.service.stop()
    const kinds = await ask(drifting.output, "SELECT DISTINCT kind FROM meta.schema_changes ORDER BY ALL")
    assert.deepStrictEqual(kinds, [{ kind: "new field" }, { kind: "unexpected value" }])
    await inCopy(async (folder, run) => {
      const ran = await run("rebuild")
      assert.strictEqual(ran.code, 0, ran.stderr)
      for (const statement of [
        "FROM meta.runs WHERE command <> 'rebuild' ORDER BY run_id",
        "FROM meta.coverage ORDER BY ALL",
        "SELECT * EXCLUDE (seen) FROM meta.schema_changes ORDER BY ALL"
      ]) {
        const before = await ask(drifting.output, statement)
        assert.isNotEmpty(before, statement)
        assert.deepStrictEqual(await ask(folder, statement), before, statement)
      }
    }, drifting)
    rmSync(drifting.output, { recursive: true })
  })

  it("is refused and keeps every contact if the vault holds fewer records than the tables", async () => {
    await inCopy(async (folder, run) => {
      rmSync(join(folder, "vault"), { recursive: true })
      const synced = await run("sync", "--only", "custom_fields")
      assert.strictEqual(synced.code, 0, synced.stderr)
      assert.match(synced.stderr, /^Part of the vault is missing: restore it from a backup\./m)
      const verified = await run("verify")
      assert.strictEqual(verified.code, 1)
      assert.match(
        verified.stderr,
        /^WRONG {2}vault: runs: it contains no entry of 2 runs whose pages are in the tables; the first is /m
      )
      assert.match(verified.stderr, /^Next: restore the segments above from a backup of the vault/m)
      const refused = await run("rebuild")
      assert.strictEqual(refused.code, 1)
      assert.match(
        refused.stderr,
        /The vault holds fewer records than the tables: .*\d+ of \d+ .*Nothing was replaced\.\nNext: Put the vault back/
      )
      assert.deepStrictEqual(
        await ask(folder, "FROM crm.contacts ORDER BY id"),
        await ask(account.output, "FROM crm.contacts ORDER BY id")
      )

      renameSync(join(folder, "warehouse.duckdb"), join(folder, "kept.duckdb"))
      const rebuilt = await run("rebuild")
      assert.strictEqual(rebuilt.code, 0, rebuilt.stderr)
      assert.isEmpty(await ask(folder, "FROM crm.contacts"))
      assert.match(
        rebuilt.stderr,
        /^Without the old warehouse, the runs before this one are not in meta\.runs any more\./m
      )
      assert.deepStrictEqual(await ask(folder, "SELECT command FROM meta.runs"), [{ command: "rebuild" }])
      const again = await run("rebuild")
      assert.notInclude(again.stderr, "Without the old warehouse")
    })
  })

  it("a sync names a missing segment of the vault", async () => {
    await inCopy(async (folder, run) => {
      rmSync(join(folder, "vault", "000001.ndjson.zst"))
      const synced = await run("sync", "--only", "custom_fields")
      assert.strictEqual(synced.code, 0, synced.stderr)
      assert.match(synced.stderr, /^Part of the vault is missing, segment 1: restore it from a backup\./m)
    })
  })

  it.each<[string, (path: string) => unknown, RegExp]>([
    ["is missing", (path) => rmSync(path), /segment 1 is missing/],
    ["has a changed byte", (path) => flip(path), /segment 1 cannot be unpacked/],
    ["is cut off", (path) => writeFileSync(path, readFileSync(path).subarray(0, 2000)), /segment 1 cannot be unpacked/]
  ])("fails if a segment %s, and names the segment and verify as the next step", async (_, damage, problem) => {
    await inCopy(async (folder, run) => {
      damage(join(folder, "vault", "000001.ndjson.zst"))
      const ran = await run("rebuild")
      assert.strictEqual(ran.code, 1)
      assert.match(ran.stderr, problem)
      assert.match(ran.stderr, /^Next: Run \.\/sluice verify, then restore that file from a backup/m)
    })
  })
})
