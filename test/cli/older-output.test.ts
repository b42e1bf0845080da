/** An output folder that an earlier version wrote: a warehouse of format 1, and the vault of three runs. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { zstdDecompressSync } from "node:zlib"
import { query } from "../support/compare.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const fixture = fileURLToPath(new URL("../fixtures/format-1", import.meta.url))
const copyFixture = (): string => {
  const folder = newFolder()
  mkdirSync(join(folder, "vault"), { recursive: true })
  cpSync(join(fixture, "vault"), join(folder, "vault"), { recursive: true })
  const compressed = readFileSync(join(fixture, "warehouse.duckdb.zst"))
  writeFileSync(join(folder, "warehouse.duckdb"), zstdDecompressSync(compressed))
  return folder
}
const environmentFor = (folder: string) => ({
  SLUICE_BASE_URL: "http://127.0.0.1:1",
  SLUICE_TOKEN: "none",
  SLUICE_LOCATION_ID: "none",
  SLUICE_OUTPUT: folder,
  SLUICE_FORMATS: "none"
})

describe("an output folder of format 1", () => {
  it.each([["sync"], ["status"], ["publish"], ["verify"]])(
    "is refused by %s, which names rebuild and does not change the warehouse",
    async (command) => {
      const folder = copyFixture()
      const before = readFileSync(join(folder, "warehouse.duckdb"))
      const ran = await sluice([command], environmentFor(folder))
      assert.strictEqual(ran.code, 1, ran.stderr)
      assert.match(ran.stderr, /has format 1.*\n.*\.\/sluice rebuild/)
      assert.isTrue(readFileSync(join(folder, "warehouse.duckdb")).equals(before))
    }
  )

  describe("after rebuild", () => {
    const folder = copyFixture()
    const [old, now] = [join(newFolder(), "old.duckdb"), join(folder, "warehouse.duckdb")]
    beforeAll(async () => {
      copyFileSync(now, old)
      const ran = await sluice(["rebuild"], environmentFor(folder))
      assert.strictEqual(ran.code, 0, ran.stderr)
    })

    it.each([
      "locations",
      "users",
      "contacts",
      "contact_tags",
      "contact_custom_values",
      "contact_notes",
      "opportunities"
    ])("has the same current and historical rows of %s", async (table) => {
      for (const schema of ["crm", "crm_history"]) {
        const rows = `FROM ${schema}.${table} ORDER BY ALL`
        assert.deepStrictEqual(await query(now, rows), await query(old, rows), schema)
      }
      assert.isNotEmpty(await query(now, `FROM crm.${table}`))
    })

    it("has the same runs, statuses, counts and watermarks", async () => {
      const runs = "SELECT run_id, command, exit_code, requests FROM meta.runs WHERE command <> 'rebuild' ORDER BY ALL"
      assert.deepStrictEqual(await query(now, runs), await query(old, runs))
      const columns = "run_id, resource, records, new_rows, changed_rows, deleted_rows"
      assert.deepStrictEqual(
        await query(now, `SELECT ${columns}, status FROM meta.run_resources WHERE pages > 0 ORDER BY ALL`),
        await query(
          old,
          `SELECT ${columns}, replace(verdict, 'complete with doubts', 'complete_with_warnings') AS status
           FROM meta.run_resources WHERE pages > 0 ORDER BY ALL`
        )
      )
      const watermarks = "SELECT resource, watermark, complete_at, full_complete_at FROM meta.watermarks ORDER BY ALL"
      assert.deepStrictEqual(await query(now, watermarks), await query(old, watermarks))
    })
  })
})
