/** A rebuild that is killed. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { openAccount } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { start } from "../support/process.ts"
import { sluice } from "../support/sluice.ts"

describe("a rebuild", () => {
  it("that was killed before a warehouse existed leaves none, and the next sync loads the vault", async () => {
    const account = await openAccount("--contacts", "120")
    const { environment, output, warehouse } = account
    const contacts = () => query(warehouse, "SELECT id FROM crm.contacts ORDER BY id")
    try {
      assert.strictEqual((await account.sync()).code, 0)
      const before = await contacts()
      rmSync(warehouse)
      const running = start(["rebuild"], environment)
      while (!existsSync(join(output, "rebuilt.duckdb"))) await new Promise((resolve) => setTimeout(resolve, 20))
      running.kill("SIGKILL")
      await running.ended
      for (const command of ["status", "verify"]) {
        const ran = await sluice([command], environment)
        assert.strictEqual(ran.code, 1)
        assert.match(ran.stderr, /There is no warehouse at .* yet\.\nAbout .*\nNext: \.\/sluice sync/)
      }
      const synced = await account.sync("--only", "products")
      assert.strictEqual(synced.code, 0, synced.stderr)
      assert.deepStrictEqual(await contacts(), before)
    } finally {
      account.service.stop()
    }
  })
})
