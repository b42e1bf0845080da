/** Removes earlier versions of rows that ended before a time. */
import { Effect } from "effect"
import type { Catalogue } from "../../catalog/discover.ts"
import { tablesOf } from "../../catalog/tables.ts"
import type { Failure } from "../../values/failure.ts"
import { raiseHistoryLimit } from "../../stores/warehouse/meta/history-limit.ts"
import { renewVersion } from "../../stores/warehouse/meta/content-versions.ts"
import { instantOf, name } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"

/** Returns the number of versions, without those of child tables. `before`: epoch milliseconds. */
export const pruneHistory = Effect.fn("prune.history")(function* (
  { resources }: Catalogue,
  { apply, before }: { readonly before: number; readonly apply: boolean }
): Effect.fn.Return<number, Failure, Warehouse> {
  const { rows, transaction } = yield* Warehouse
  const isOld = `_valid_to < ${instantOf(before)}`
  let versions = 0
  for (const resource of resources) {
    const [row] = yield* rows(`SELECT count(*) AS n FROM crm_history.${name(resource.table)} WHERE ${isOld}`)
    if (Number(row?.["n"]) === 0) continue
    versions += Number(row?.["n"])
    if (apply)
      yield* transaction([
        ...raiseHistoryLimit(before),
        ...tablesOf(resource).map((table) => `DELETE FROM crm_history.${name(table.name)} WHERE ${isOld}`),
        ...renewVersion(resource.table)
      ])
  }
  return versions
})
