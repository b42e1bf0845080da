/** Backfills that are killed, or that a sync in another process stops. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Account, openAccount } from "../support/account.ts"
import { start } from "../support/process.ts"
import { sluice } from "../support/sluice.ts"

const dated = "contacts,conversations,messages,opportunities,orders,transactions,subscriptions,form_submissions"

const backfill = (account: Account, ...flags: ReadonlyArray<string>) =>
  sluice(["backfill", ...flags], account.environment)

describe("a backfill", () => {
  it("resumes after it was killed, and sends no request for its windows after a rebuild", async () => {
    const account = await openAccount("--contacts", "300", "--latency", "30")
    try {
      const to = new Date(Date.now() - 3 * 86_400_000).toISOString()
      const flags = ["--only", dated, "--from", "2022-01-01", "--to", to]
      const whole = await openAccount("--contacts", "300")
      const uninterrupted = await backfill(whole, ...flags)
      assert.strictEqual(uninterrupted.code, 0, uninterrupted.stderr)
      const cost = (await whole.service.stats()).requests
      whole.service.stop()

      for (const share of [0.2, 0.5, 0.8]) {
        const running = start(["backfill", ...flags], account.environment)
        await account.service.requested(Math.floor(cost * share))
        running.kill("SIGKILL")
        await running.ended
      }
      const last = await backfill(account, ...flags)
      assert.strictEqual(last.code, 0, last.stderr)
      // At each kill, at most nine partitions of the eight resources had a request in flight.
      assert.isAtMost((await account.service.stats()).requests, cost + 3 * 9)
      const rebuilt = await sluice(["rebuild"], account.environment)
      assert.strictEqual(rebuilt.code, 0, rebuilt.stderr)
      const before = (await account.service.stats()).requests
      const again = await backfill(account, "--only", dated, "--from", "2023-01-01", "--to", "2025-01-01")
      assert.strictEqual(again.code, 0, again.stderr)
      assert.strictEqual((await account.service.stats()).requests, before)
    } finally {
      account.service.stop()
    }
  })

  it("stops with 75 when a sync starts, and the sync completes", async () => {
    const account = await openAccount("--contacts", "200", "--latency", "100")
    try {
      assert.strictEqual((await account.sync()).code, 0)
      const before = (await account.service.stats()).requests
      const running = start(["backfill", "--from", "2015-01-01"], account.environment)
      await account.service.requested(before + 10)
      // The sync is another process, because DuckDB's lock lets one process open a file twice.
      const synced = await start(["sync"], account.environment).ended
      assert.strictEqual(synced.code, 0, synced.stderr)
      const stopped = await running.ended
      assert.strictEqual(stopped.code, 75, stopped.stderr)
      assert.match(stopped.stderr, /the backfill stopped/)
      assert.isFalse(existsSync(join(account.output, "backfill.running")))
    } finally {
      account.service.stop()
    }
  })
})
