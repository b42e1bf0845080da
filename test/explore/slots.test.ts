/** The slots of queries: those of queries that were stopped become free for the next one. */
import { assert, it } from "vitest"
import { DuckDBInstance } from "@duckdb/node-api"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Database, type DatabaseError, slots } from "../../src/features/explore/database.ts"

it("a query runs when all slots are taken by queries that were stopped, also before they began", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-slots-"))
  const path = join(folder, "empty.duckdb")
  const instance = await DuckDBInstance.create(path)
  instance.closeSync()
  const database = new Database({ path, memoryMb: 128 })
  const free = slots(4)
  const endless = "SELECT count(*) FROM range(1000000000000) AS a, range(1000000) AS b"
  // The process starts with the first query, so these are stopped before it has opened the file.
  const stopped = new AbortController()
  const refused = Array.from({ length: 4 }, () =>
    free(stopped.signal, () => database.query(endless, stopped.signal)).catch(({ code }: DatabaseError) => code)
  )
  stopped.abort()
  const { signal } = new AbortController()
  const { rows } = await free(signal, () => database.query("SELECT 1", signal))
  assert.deepStrictEqual(rows, [["1"]])
  assert.deepStrictEqual(await Promise.all(refused), Array(4).fill("stopped"))
  database.close()
  rmSync(folder, { recursive: true })
})
