/** Commands that only read, while a sync has the warehouse open. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { openTables } from "../support/account.ts"
import { start } from "../support/process.ts"

describe("while a sync runs", () => {
  it("status, plan, verify and publish --stdout answer from its progress and from the last release", async () => {
    const account = await openTables("contacts,contact_notes,forms", "--contacts", "60", "--latency", "400")
    const environment = { ...account.environment, SLUICE_FORMATS: "duckdb,csv" }
    const progress = join(account.output, "progress.json")
    const result = async (...args: ReadonlyArray<string>) => {
      const ran = await start([...args, "--json"], environment).ended
      return { code: ran.code, stderr: ran.stderr, ...JSON.parse(ran.stdout) }
    }
    try {
      // Before the first release.
      const first = start(["sync", ...account.selection], environment)
      await account.service.requested(10)
      while (!existsSync(progress)) await new Promise((resolve) => setTimeout(resolve, 50))
      const early = await result("status", "--check")
      assert.strictEqual(early.code, 3, "nothing is known to be complete")
      assert.strictEqual(early.data.source, "none")
      assert.strictEqual(early.data.holder.isRun, true)
      assert.isAtLeast(early.data.holder.requests, 0)
      assert.strictEqual((await result("publish", "--stdout", "contacts")).code, 11)
      assert.strictEqual((await first.ended).code, 0)
      assert.isFalse(existsSync(progress))

      await account.service.post("change", { contacts: 1 })
      const used = (await account.service.stats()).requests
      const second = start(["sync", ...account.selection, "--again=all"], environment)
      await account.service.requested(used + 10)
      while (!existsSync(progress)) await new Promise((resolve) => setTimeout(resolve, 50))
      const [status, planned, verified, rows, replayed] = await Promise.all([
        result("status", ...account.selection, "--check"),
        result("plan", ...account.selection),
        result("verify"),
        start(["publish", "--stdout", "contacts", "--columns", "id"], environment).ended,
        result("verify", "--all")
      ])
      assert.strictEqual((await second.ended).code, 0)
      assert.strictEqual(status.code, 0, status.stderr)
      assert.strictEqual(status.data.source, "published")
      assert.strictEqual(status.data.holder.command, "sluice sync")
      assert.strictEqual(planned.code, 0)
      assert.isAtLeast(planned.data.holder.requests, 0)
      assert.deepStrictEqual(planned.data.steps, [])
      assert.strictEqual(verified.code, 0)
      assert.deepStrictEqual(
        verified.data.checks.map(({ check }: { readonly check: string }) => check),
        ["published"],
        "only what was checked is listed"
      )
      assert.match(verified.stderr, /^Only the published files were checked, not the vault and the warehouse\.$/m)
      assert.strictEqual(rows.code, 0)
      assert.match(rows.stderr, /The answer is from the last published release/)
      assert.strictEqual(rows.stdout.trim().split("\r\n").length, 61)
      assert.strictEqual(replayed.code, 11, "a check that needs the warehouse is not answered by less")
    } finally {
      account.service.stop()
    }
  })
})
