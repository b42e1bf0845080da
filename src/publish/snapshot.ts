/**
 * The DuckDB file that is published: a copy of the warehouse without the state that only sluice needs. Parquet and CSV are
 * copied from it too, so that all files of a release show the same state.
 */
import { Effect, Exit } from "effect"
import type { Failure } from "../failure.ts"
import { publishedMetaTables } from "../warehouse/meta/tables.ts"
import { literal, name } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import type { TableName } from "./chunks.ts"

/** The database name of the snapshot while it is attached. */
const snapshotName = "sluice_served"

/**
 * The snapshot has the current rows in its main schema. DuckDB names the catalog of an opened file after the file, so both
 * `contacts` and `crm.contacts` find them; with a schema `crm` as well, `crm.contacts` would be ambiguous.
 */
export const snapshotSchema = `${snapshotName}.main`
export const snapshotTable = (table: Pick<TableName, "name">) => `${snapshotSchema}.${name(table.name)}`
export const snapshotHistory = (table: Pick<TableName, "name">) => `${snapshotName}.crm_history.${name(table.name)}`

/** Creates the snapshot at `path` and runs `use` while it is attached; then closes the file. */
export const withSnapshot = Effect.fnUntraced(function* <A, R>(
  path: string,
  tables: ReadonlyArray<TableName>,
  use: Effect.Effect<A, Failure, R>,
  views: ReadonlyArray<string> = []
): Effect.fn.Return<A, Failure, R | Warehouse> {
  const warehouse = yield* Warehouse
  const detach = warehouse.run(`DETACH ${snapshotName}`)
  return yield* Effect.acquireUseRelease(
    // Without a write-ahead log, because an incomplete snapshot is never used.
    warehouse.run(`ATTACH ${literal(path)} AS ${snapshotName} (RECOVERY_MODE no_wal_writes)`),
    () => copyWarehouse(tables).pipe(Effect.andThen(makeViews(views)), Effect.andThen(use)),
    // After a failure, only that failure is reported.
    (_, exit) => (Exit.isSuccess(exit) ? detach : Effect.ignore(detach))
  ).pipe(storedOrder)
})

/**
 * Keeps the rows in the order of the warehouse, so that the same warehouse gives the same bytes. Sorting by key runs out of
 * memory at 5 million contacts under 256 MB. The warehouse keeps its one thread: with a second one and this order, Parquet
 * and CSV take twice as long.
 */
export const storedOrder = Effect.fnUntraced(function* <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.fn.Return<A, E | Failure, R | Warehouse> {
  const warehouse = yield* Warehouse
  const [before] = yield* warehouse.rows("SELECT current_setting('preserve_insertion_order') AS ordered")
  const set = (ordered: boolean) => warehouse.run(`SET preserve_insertion_order = ${ordered}`)
  return yield* Effect.acquireUseRelease(
    set(true),
    () => effect,
    () => Effect.ignore(set(before?.["ordered"] === true))
  )
})

const copyWarehouse = Effect.fnUntraced(function* (tables: ReadonlyArray<TableName>) {
  const warehouse = yield* Warehouse
  const paths = [
    ...tables
      .filter(({ wide }) => !wide)
      .flatMap((table) => [`crm.${name(table.name)}`, `crm_history.${name(table.name)}`]),
    ...publishedMetaTables.map((table) => `meta.${name(table)}`)
  ]
  yield* warehouse.transaction([
    ...["crm_history", "meta"].map((schema) => `CREATE SCHEMA ${snapshotName}.${schema}`),
    ...paths.map((path) => `CREATE TABLE ${copyOf(path)} AS SELECT * FROM ${path}`)
  ])
})

/** A view resolves names in the database in which it is created, so the views are created in the snapshot. */
const makeViews = Effect.fnUntraced(function* (views: ReadonlyArray<string>) {
  const warehouse = yield* Warehouse
  const [row] = yield* warehouse.rows("SELECT current_database() AS own")
  yield* Effect.acquireUseRelease(
    warehouse.run(`USE ${snapshotName}`),
    () => warehouse.transaction(views),
    () => Effect.ignore(warehouse.run(`USE ${name(String(row?.["own"]))}`))
  )
  // Without a checkpoint, the rows would still be in a log next to the file, which is not published.
  yield* warehouse.run(`CHECKPOINT ${snapshotName}`)
})

const copyOf = (path: string) => `${snapshotName}.${path.replace(/^crm\./, "main.")}`
