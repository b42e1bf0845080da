/** Copies what the vault does not have from the old warehouse to a rebuilt one: the runs and their reports, and names of columns. */
import * as Effect from "effect/Effect"
import { mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { onDisk } from "../../../output/files.ts"
import { formatSql } from "../format.ts"
import { literal } from "../sql.ts"
import type { Warehouse } from "../warehouse.ts"
import { existingMetaTables } from "./tables.ts"

/** Queries for a warehouse of the current format. */
const current = {
  runs: "FROM meta.runs",
  coverage: "FROM meta.coverage",
  wide_columns: "FROM meta.wide_columns ORDER BY rowid",
  schema_changes: "FROM meta.schema_changes WHERE kind LIKE '% value'",
  safeguards: "FROM meta.safeguards"
}

/** Queries for a warehouse of format 1, which had other names. */
const first = {
  runs: `SELECT * EXCLUDE (outcome),
    if(exit_code = 75, 'paused', replace(outcome, 'complete with doubts', 'complete_with_warnings')) AS status FROM meta.runs`,
  coverage: `SELECT * REPLACE (replace(status, 'complete with doubts', 'complete_with_warnings') AS status) FROM meta.coverage`,
  schema_changes: `SELECT * REPLACE (CASE kind WHEN 'new word' THEN 'new value' ELSE 'unexpected value' END AS kind)
    FROM meta.schema_changes WHERE kind LIKE '% word'`,
  wide_columns: "FROM meta.wide_columns ORDER BY rowid"
}

export const copyHistory = Effect.fnUntraced(function* (
  old: Warehouse["Service"],
  rebuilt: Warehouse["Service"],
  temporary: string
) {
  const tables = yield* existingMetaTables(old)
  if (!tables.has("runs")) return
  const [version] = tables.has("schema_version") ? yield* old.rows(formatSql) : []
  yield* onDisk(temporary, "created", () => mkdir(temporary, { recursive: true, mode: 0o700 }))
  for (const [table, select] of Object.entries(version ? current : first)) {
    if (!tables.has(table)) continue
    const file = literal(join(temporary, `${table}.parquet`))
    yield* old.run(`COPY (${select}) TO ${file} (FORMAT parquet)`)
    yield* rebuilt.run(`INSERT INTO meta.${table} BY NAME FROM read_parquet(${file})`)
  }
  yield* onDisk(temporary, "removed", () => rm(temporary, { recursive: true, force: true }))
})
