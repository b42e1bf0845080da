/** Copies what the vault does not have from the old warehouse to a rebuilt one: the runs and their reports, and names of columns. */
import * as Effect from "effect/Effect"
import { mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { onDisk } from "../../../output/files.ts"
import { removeBelow } from "../../../output/remove.ts"
import { literal } from "../sql.ts"
import type { Warehouse } from "../warehouse.ts"
import { existingMetaTables } from "./tables.ts"

/** What to copy of each table. */
const history = {
  runs: "FROM meta.runs",
  coverage: "FROM meta.coverage",
  wide_columns: "FROM meta.wide_columns ORDER BY rowid",
  schema_changes: "FROM meta.schema_changes WHERE kind LIKE '% value'",
  safeguards: "FROM meta.safeguards"
}

/** Whether there were runs to copy. */
export const copyHistory = Effect.fnUntraced(function* (
  old: Warehouse["Service"],
  rebuilt: Warehouse["Service"],
  temporary: string
) {
  const tables = yield* existingMetaTables(old)
  if (!tables.has("runs")) return false
  yield* onDisk(temporary, "created", () => mkdir(temporary, { recursive: true, mode: 0o700 }))
  for (const [table, select] of Object.entries(history)) {
    if (!tables.has(table)) continue
    const file = literal(join(temporary, `${table}.parquet`))
    yield* old.run(`COPY (${select}) TO ${file} (FORMAT parquet)`)
    yield* rebuilt.run(`INSERT INTO meta.${table} BY NAME FROM read_parquet(${file})`)
  }
  yield* onDisk(temporary, "removed", () => removeBelow(dirname(temporary), temporary))
  return true
})
