/** Statements about many tables: planning one for each would take longer than most of them. */
import { Array as Arr, Effect } from "effect"
import { itemAt } from "../../catalog/present.ts"
import { type Readers, readRows } from "../../values/rows.ts"
import { Limits } from "../../values/limits.ts"
import { together } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"

/** What a statement reads, with about how many rows. */
interface Sized {
  readonly size: number
}

/** What one statement can read. */
export const inGroups = <One extends Sized>(
  all: ReadonlyArray<One>,
  { rowsTogether, tablesTogether }: Limits["warehouse"]
): ReadonlyArray<ReadonlyArray<One>> => {
  const groups: Array<Array<One>> = []
  let rows = 0
  for (const one of all) {
    const last = groups.at(-1)
    rows += one.size
    if (last === undefined || tablesTogether.isReachedBy(last.length) || rowsTogether.isExceededBy(rows)) {
      groups.push([one])
      rows = one.size
    } else last.push(one)
  }
  return groups
}

/** The rows of a query for each of many tables. */
export const rowsOfEach = Effect.fnUntraced(function* <One extends Sized, Columns extends Readers>(
  columns: Columns,
  tables: ReadonlyArray<One>,
  sqlOf: (one: One) => string
) {
  const warehouse = yield* Warehouse
  const found = yield* Effect.forEach(inGroups(tables, (yield* Limits).warehouse), (group) =>
    Effect.map(warehouse.rows(`${together(group.map(sqlOf))} ORDER BY ALL`), (rows) =>
      Arr.zipWith(rows, readRows(columns, rows), ({ place }, row) => [itemAt(group, Number(place)), row] as const)
    )
  )
  return found.flat()
})
