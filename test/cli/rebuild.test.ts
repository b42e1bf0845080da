import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Account } from "../support/account.ts"
import { copyOf, flip, openSynced } from "../support/broken.ts"
import { query } from "../support/compare.ts"
import { sluice } from "../support/sluice.ts"

let account: Account
beforeAll(async () => {
  account = await openSynced()
})
afterAll(() => {
  account.service.stop()
  rmSync(account.output, { recursive: true })
})

/** In a copy of the account's folder. */
const inCopy = async (
  use: (folder: string, run: (...args: ReadonlyArray<string>) => ReturnType<typeof sluice>) => unknown
) => {
  const folder = copyOf(account.output)
  const environment = { ...account.environment, SLUICE_OUTPUT: folder }
  try {
    await use(folder, (...args) => sluice(args, environment))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
const ask = (folder: string, sql: string) => query(join(folder, "warehouse.duckdb"), sql)

describe("a rebuild", () => {
  it("keeps what no page tells: how runs went, what became of each operation, words that were told", async () => {
    await inCopy(async (folder, run) => {
      const ran = await run("rebuild")
      assert.strictEqual(ran.code, 0, ran.stderr)
      for (const told of [
        "FROM meta.runs WHERE command <> 'rebuild' ORDER BY run_id",
        "FROM meta.coverage ORDER BY ALL",
        "SELECT * EXCLUDE (seen) FROM meta.schema_changes ORDER BY ALL"
      ]) {
        const before = await ask(account.output, told)
        assert.isNotEmpty(before, told)
        assert.deepStrictEqual(await ask(folder, told), before, told)
      }
    })
  })

  it("loses no row of which the vault holds nothing: what is there is told, and stays", async () => {
    await inCopy(async (folder, run) => {
      rmSync(join(folder, "vault"), { recursive: true })
      const synced = await run("sync", "--only", "products")
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
        /The vault holds less than the tables do: .*\d+ of \d+ .*Nothing was replaced\.\nNext: Put the vault back/
      )
      assert.deepStrictEqual(
        await ask(folder, "FROM crm.contacts ORDER BY id"),
        await ask(account.output, "FROM crm.contacts ORDER BY id")
      )

      renameSync(join(folder, "warehouse.duckdb"), join(folder, "kept.duckdb"))
      const taken = await run("rebuild")
      assert.strictEqual(taken.code, 0, taken.stderr)
      assert.isEmpty(await ask(folder, "FROM crm.contacts"))
    })
  })

  it("needs the whole vault, and a sync tells which segment of it is gone", async () => {
    await inCopy(async (folder, run) => {
      rmSync(join(folder, "vault", "000001.ndjson.zst"))
      const synced = await run("sync", "--only", "products")
      assert.strictEqual(synced.code, 0, synced.stderr)
      assert.match(synced.stderr, /^Part of the vault is missing, segment 1: restore it from a backup\./m)
    })
  })

  it.each<[string, (path: string) => unknown, RegExp]>([
    ["is missing", (path) => rmSync(path), /segment 1 is missing/],
    ["has a changed byte", (path) => flip(path), /segment 1 cannot be unpacked/],
    ["is cut off", (path) => writeFileSync(path, readFileSync(path).subarray(0, 2000)), /segment 1 cannot be unpacked/]
  ])("names the segment of the vault that %s, and who tells more", async (_, damage, told) => {
    await inCopy(async (folder, run) => {
      damage(join(folder, "vault", "000001.ndjson.zst"))
      const ran = await run("rebuild")
      assert.strictEqual(ran.code, 1)
      assert.match(ran.stderr, told)
      assert.match(ran.stderr, /^Next: Run \.\/sluice verify, then restore that file from a backup/m)
    })
  })
})
