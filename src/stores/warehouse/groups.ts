/** Statements about many tables: planning one for each would take longer than most of them. */
import { Effect } from "effect"
import { type Readers, readRows } from "../../values/rows.ts"
import { Limits } from "../../values/limits.ts"
import { together } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"

/** What a statement reads, with about how many rows. */
interface Sized {
  readonly size: number
}

/** How many queries of small tables are one statement: to plan 48 takes twice as long as three times 16. */
const togetherMax = 16

/** What one statement can read. */
export const inGroups = <One extends Sized>(
  all: ReadonlyArray<One>,
  { rowsTogether }: Limits
): ReadonlyArray<ReadonlyArray<One>> => {
  const groups: Array<Array<One>> = []
  let rows = 0
  for (const one of all) {
    const last = groups.at(-1)
    rows += one.size
    if (last === undefined || last.length >= togetherMax || rows > rowsTogether) {
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
  const found = yield* Effect.forEach(inGroups(tables, yield* Limits), (group) =>
    Effect.map(warehouse.rows(`${together(group.map(sqlOf))} ORDER BY ALL`), (rows) =>
      readRows(columns, rows).map((row, index) => [group[Number(rows[index]!["place"])]!, row] as const)
    )
  )
  return found.flat()
})
