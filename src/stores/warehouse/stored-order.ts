/** Reads rows in the order of the warehouse. */
import { Effect } from "effect"
import { Warehouse } from "./warehouse.ts"

/**
 * Keeps the rows in the order of the warehouse, so that the same warehouse gives the same bytes. Sorting by key runs out of
 * memory at 5 million contacts under 256 MB. The warehouse keeps its one thread: with a second one and this order, Parquet
 * and CSV take twice as long.
 */
export const storedOrder = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const warehouse = yield* Warehouse
  const [before] = yield* warehouse.rows("SELECT current_setting('preserve_insertion_order') AS ordered")
  const set = (ordered: boolean) => warehouse.run(`SET preserve_insertion_order = ${ordered}`)
  return yield* Effect.acquireUseRelease(
    set(true),
    () => effect,
    () => Effect.ignore(set(before?.["ordered"] === true))
  )
})

/**
 * Nearly the same for the rows of wide views: without this, DuckDB may exchange the sides of their join, which gives all rows
 * in the order of their values. Of each 2,048 rows, some without values follow the others.
 */
export const joinedInOrder = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const warehouse = yield* Warehouse
  return yield* Effect.acquireUseRelease(
    warehouse.run("SET disabled_optimizers = 'build_side_probe_side'"),
    () => effect,
    () => Effect.ignore(warehouse.run("RESET disabled_optimizers"))
  )
})
