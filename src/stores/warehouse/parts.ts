/** Reads tables in parts that fit into DuckDB's memory, and rows in the order of the warehouse. */
import { Effect, Stream } from "effect"
import type { StoredColumn } from "./content.ts"
import { bracketed, queryNumber, queryRow } from "./query.ts"
import { Limits } from "../../values/limits.ts"
import { numbers } from "../../values/rows.ts"
import { name } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"
import type { WideView } from "./wide-view.ts"
import { columnsOf, selectStream, tableSizes } from "./columns.ts"

/** DuckDB cannot spill aggregated values, of a few hundred bytes each, and holds each cell until it is written. */
const valuesPerMb = 1000
const cellsPerMb = 8000

/** One or more FROM clauses that together return the rows of a table, in order. `isStreamed`: whether its cells are held as text. */
export const partsOf = Effect.fnUntraced(function* (
  { name: table, wide }: { readonly name: string; readonly wide?: WideView | undefined },
  schema: string,
  isStreamed = true
) {
  if (!wide) return [`${schema}.${name(table)}`]
  const [warehouse, { wideRows }] = [yield* Warehouse, (yield* Limits).warehouse]
  const columns = isStreamed ? (yield* columnsOf(`(${wide.rows(schema, 0, -1)})`)).length : 1
  const { last, valuesEach } = yield* queryRow(
    numbers("last", "valuesEach"),
    `SELECT max(rowid) AS last, (SELECT count(*) FROM ${schema}.${name(wide.values)}) / greatest(count(*), 1) AS valuesEach FROM ${schema}.${name(wide.table)}`
  )
  const rowsPerMb = Math.min(cellsPerMb / columns, valuesPerMb / Math.max(1, valuesEach))
  const step = Math.max(wideRows.value, Math.floor(warehouse.memoryMb * rowsPerMb))
  if (last >= step) wideRows.crossed()
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, part) => {
    const first = part * step
    return `(${wide.rows(schema, first, first + step - 1)})`
  })
})

/** Streams every row as text, a few thousand in memory at a time. */
export const rowsOf = (parts: ReadonlyArray<string>, columns: ReadonlyArray<StoredColumn>) =>
  Stream.unwrap(
    Effect.map(Warehouse, (warehouse) =>
      Stream.flatMap(Stream.fromIterable(parts), (part) => warehouse.stream(selectStream(part, columns)))
    )
  )

/** FROM clauses that together return the rows of a table in order; of a view, which is not read in parts, one. */
export const rangesOf = Effect.fnUntraced(function* (path: string) {
  const { partRows } = (yield* Limits).pipe
  const step = partRows.value
  const size = (yield* tableSizes("current_database()")).get(path.replaceAll('"', "")) ?? 0
  if (!partRows.isExceededBy(size)) return [path]
  const last = yield* queryNumber(`SELECT max(rowid) FROM ${path}`)
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, part) => {
    const first = part * step
    return `(FROM ${path} WHERE rowid BETWEEN ${first} AND ${first + step - 1})`
  })
})

/**
 * Keeps the rows in the order of the warehouse, so that the same warehouse gives the same bytes. Sorting by key runs out of
 * memory at 5 million contacts under 256 MB. The warehouse keeps its one thread: with a second one and this order, Parquet
 * and CSV take twice as long.
 */
export const storedOrder = <A, E, R>(effect: Effect.Effect<A, E, R>) => ordered(effect, true)

/** Within `storedOrder`: in an order, DuckDB holds results of each part of a statement at the same time. */
export const anyOrder = <A, E, R>(effect: Effect.Effect<A, E, R>) => ordered(effect, false)

/** The warehouse is opened without an order. */
const ordered = <A, E, R>(effect: Effect.Effect<A, E, R>, isOrdered: boolean) =>
  bracketed(`SET preserve_insertion_order = ${isOrdered}`, effect, `SET preserve_insertion_order = ${!isOrdered}`)

/**
 * Nearly the same for the rows of wide views: without this, DuckDB may exchange the sides of their join, which gives all rows
 * in the order of their values. Of each 2,048 rows, some without values follow the others.
 */
export const joinedInOrder = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  bracketed("SET disabled_optimizers = 'build_side_probe_side'", effect, "RESET disabled_optimizers")
