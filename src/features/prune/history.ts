/** Removes earlier versions of rows that ended before a time. */
import { Effect } from "effect"
import type { Catalogue } from "../../catalog/discover.ts"
import { tablesOf } from "../../catalog/tables.ts"
import { raiseHistoryLimit } from "../../stores/warehouse/meta/history-limit.ts"
import { renewVersion } from "../../stores/warehouse/meta/content-versions.ts"
import { queryRow } from "../../stores/warehouse/query.ts"
import { numbers } from "../../values/rows.ts"
import { instantOf, name } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"

/** Returns the number of versions of records, and of the rows that go with them. `before`: epoch milliseconds. */
export const pruneHistory = Effect.fn("prune.history")(function* (
  { resources }: Catalogue,
  { apply, before }: { readonly before: number; readonly apply: boolean }
) {
  const isOld = `_valid_to < ${instantOf(before)}`
  let [versions, rows] = [0, 0]
  for (const resource of resources) {
    const tables = tablesOf(resource).map((table) => `crm_history.${name(table.name)}`)
    const counts = tables.map((table) => `(SELECT count(*) FROM ${table} WHERE ${isOld})`)
    const old = yield* queryRow(
      numbers("versions", "rows"),
      `SELECT ${counts[0]} AS versions, ${counts.join(" + ")} AS rows`
    )
    if (old.rows === 0) continue
    versions += old.versions
    rows += old.rows
    if (apply)
      yield* (yield* Warehouse).transaction([
        ...raiseHistoryLimit(before),
        ...tables.map((table) => `DELETE FROM ${table} WHERE ${isOld}`),
        ...renewVersion(resource.table)
      ])
  }
  return { versions, rows }
})
