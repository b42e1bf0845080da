/** A vault that was compacted, against one that was not: every rebuild makes the same rows, history and counts. */
import { assert, describe, it } from "@effect/vitest"
import { cpSync, readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { discover } from "../../src/catalog/discover.ts"
import { type Account, coreTables, discard, openCore, openSynced } from "../support/account.ts"
import { checksOf } from "../support/broken.ts"
import { inDatabase } from "../support/compare.ts"
import { newFolder, restrictedTo, sluice } from "../support/sluice.ts"

const bytesIn = (folder: string) =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

/** Tables of two warehouses whose rows differ, with the numbers of rows on either side only. */
const differing = (a: string, b: string) =>
  inDatabase(
    ":memory:",
    async (rows) => {
      await rows(`ATTACH '${a}' AS a (READ_ONLY)`)
      await rows(`ATTACH '${b}' AS b (READ_ONLY)`)
      const tables = await rows(
        `SELECT schema_name || '.' || table_name AS name FROM duckdb_tables() WHERE database_name = 'a'
       AND (schema_name IN ('crm', 'crm_history') OR table_name IN ('watermarks', 'run_resources', 'rejected_values', 'rejected_records', 'parent_state', 'backfilled_windows', 'seen_keys', 'checkpoints'))`
      )
      const found: Array<string> = []
      for (const { name } of tables) {
        const only = (one: string, other: string) =>
          rows(
            `SELECT count(*)::INTEGER AS n FROM (FROM ${one}.${String(name)} EXCEPT ALL FROM ${other}.${String(name)})`
          )
        const [[left], [right]] = [await only("a", "b"), await only("b", "a")]
        if (left!["n"] !== 0 || right!["n"] !== 0)
          found.push(`${String(name)}: ${String(left!["n"])}, ${String(right!["n"])}`)
      }
      assert.isAbove(tables.length, 80)
      return found
    },
    "READ_WRITE"
  )

const ok = async (ran: Promise<{ readonly code: number | null; readonly stderr: string }>, accepted = [0]) => {
  const { code, stderr } = await ran
  assert.include(accepted, code, stderr)
}

/** A first sync, and a full one after changes and deletions. */
const lived = async (...flags: ReadonlyArray<string>): Promise<Account> => {
  const account = await openCore("--contacts", "40", ...flags)
  await ok(account.sync(), [0, 3])
  await account.service.post("change", { contacts: 0.2, opportunities: 0.2, orders: 0.2, conversations: 0.2 })
  await ok(account.sync("--again=all"), [0, 3])
  return account
}

describe("a compacted vault", () => {
  it(
    "makes the same tables in a rebuild, and the next sync finds the same",
    { tags: ["slow"], timeout: 300_000 },
    async () => {
      // Its pages have copies of records that differ, invalid records and unknown fields.
      const account = await lived("--world", "nasty")
      try {
        // A full sync that is stopped: its pages must stay, because the next one goes on.
        const stopped = new AbortController()
        const before = (await account.service.stats()).requests
        const running = sluice(["sync", "--again=all", ...account.selection], account.environment, {
          signal: stopped.signal
        })
        await account.service.requested(before + 30)
        stopped.abort(130)
        await running
        const other = newFolder()
        rmSync(other, { recursive: true })
        cpSync(account.output, other, { recursive: true })
        const compacted = { ...account.environment, SLUICE_OUTPUT: other }
        const size = bytesIn(join(other, "vault"))
        const planned = await sluice(["prune", "--compact-vault", "--json"], compacted)
        assert.strictEqual(planned.code, 0, planned.stderr)
        assert.strictEqual(bytesIn(join(other, "vault")), size)
        const pruned = await sluice(["prune", "--compact-vault", "--apply", "--json"], compacted)
        assert.strictEqual(pruned.code, 0, pruned.stderr)
        const { vault } = JSON.parse(pruned.stdout).data
        assert.isAbove(vault.records, 50)
        assert.deepStrictEqual({ ...JSON.parse(planned.stdout).data.vault, before: "" }, { ...vault, before: "" })
        assert.isBelow(bytesIn(join(other, "vault")), size)

        const both = [account.environment, compacted]
        for (const environment of both) await ok(sluice(["rebuild"], environment))
        const warehouses = [account.warehouse, join(other, "warehouse.duckdb")] as const
        assert.deepStrictEqual(await differing(...warehouses), [])
        // Without the replay, which the rebuild was.
        assert.deepStrictEqual((await checksOf(other, restrictedTo(coreTables)(await discover()))).wrong, [])
        // What the interrupted sync had read counts, and nothing that is there is taken for deleted.
        for (const environment of both) await ok(sluice(["sync", ...account.selection], environment), [0, 3])
        const deleted = await Promise.all(
          warehouses.map((path) =>
            inDatabase(path, (rows) => rows("SELECT id FROM crm.contacts WHERE _deleted_at IS NOT NULL ORDER BY ALL"))
          )
        )
        assert.deepStrictEqual(deleted[0], deleted[1])
        const again = await sluice(["prune", "--compact-vault", "--json"], compacted)
        assert.isBelow(JSON.parse(again.stdout).data.vault.records, vault.records)
      } finally {
        discard(account)
      }
    }
  )
})

describe("a small compacted vault", () => {
  it("makes the same rows in a rebuild", async () => {
    const account = await openSynced({ tables: "contacts", flags: ["--contacts", "5"], isAlone: true })
    try {
      for (const night of [1, 2]) {
        await account.service.post("change", { contacts: 0.3, seed: night })
        await ok(account.sync("--again=all"))
      }
      const rowsOf = (table: string) =>
        inDatabase(account.warehouse, (rows) => rows(`SELECT * EXCLUDE (_synced_at) FROM crm.${table} ORDER BY ALL`))
      const before = await rowsOf("contacts")
      const pruned = await sluice(["prune", "--compact-vault", "--apply", "--json"], account.environment)
      assert.strictEqual(pruned.code, 0, pruned.stderr)
      assert.isAbove(JSON.parse(pruned.stdout).data.vault.records, 0)
      await ok(sluice(["rebuild"], account.environment))
      assert.deepStrictEqual(await rowsOf("contacts"), before)
    } finally {
      discard(account)
    }
  })
})
