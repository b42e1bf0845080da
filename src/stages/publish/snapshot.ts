/** The DuckDB file that is published: a copy of the warehouse without the state that only sluice needs. */
import { Effect, Exit } from "effect"
import { hash } from "node:crypto"
import type { Failure } from "../../values/failure.ts"
import { Limits } from "../../values/limits.ts"
import { copyOrMake } from "../../output/cache.ts"
import { publishedMetaTables } from "../../stores/warehouse/meta/tables.ts"
import { bracketed } from "../../stores/warehouse/query.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { catalogName } from "../../stores/warehouse/database.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { changedRows, isChanged } from "../../stores/warehouse/meta/content-versions.ts"
import type { TableChange, TableName } from "./changes.ts"
import type { StoredTable, StoredTables } from "../../stores/warehouse/columns.ts"
import { joinedInOrder } from "../../stores/warehouse/parts.ts"
import { insertWide, updateWide } from "./wide-tables.ts"
import type { TableContent } from "../../output/manifest.ts"

/** So few rows that reading all of them costs less than finding those that have changed. */
export const isSmall = ({ rows }: Pick<StoredTable, "rows">): boolean => rows <= 250

/** The database name of the snapshot while it is attached. */
export const attachedName = "sluice_served"

/**
 * The oldest format that stores the statistics of an empty column in a few bytes: in DuckDB's default, which 1.0 can read,
 * the 4,000 columns alone take 12 MB. Without this option, an update would convert the file to the default. And each column
 * takes at least one block, by default of 256 kB.
 */
const storage = "STORAGE_VERSION 'v1.1.0', BLOCK_SIZE 32768"

/** The statements that create views, macros and comments in the DuckDB file. */
export interface SnapshotStatements {
  /** Those of the definitions, which are the same for every account. */
  readonly shared: ReadonlyArray<string>
  /** Those of this account, such as views of its custom fields. */
  readonly own: ReadonlyArray<string>
}

/** Writes the file at `path`: a copy of a file without rows. Returns what fills it once it is attached. */
export const writeSnapshot = Effect.fnUntraced(function* (
  path: string,
  tables: ReadonlyArray<TableName>,
  { shared, own }: SnapshotStatements,
  stored: StoredTables
) {
  const paths = [...tables.flatMap(pathsOf), ...metaPaths]
  const statements = [
    ...["crm_history", "meta"].map((schema) => `CREATE SCHEMA ${attachedName}.${schema}`),
    ...paths.map((from) => `CREATE TABLE ${copyOf(from)} AS FROM ${from} LIMIT 0`)
  ]
  const columns = paths.map((from) => stored.of(from).columns)
  const fingerprint = hash("sha256", JSON.stringify([statements, shared, columns]))
  const make = Effect.andThen(warehouseRun(statements), inAttached(warehouseRun(shared)))
  yield* copyOrMake(path, { kind: "published", fingerprint }, (at) => withAttached(at, stored, make))
  const filled = paths.filter((from) => stored.of(from).rows > 0)
  const fill = warehouseRun(filled.map((from) => `INSERT INTO ${copyOf(from)} FROM ${from}`))
  const fillWide = joinedInOrder(Effect.flatMap(insertWide(tables, stored, copyOf), warehouseRun))
  return fill.pipe(Effect.andThen(inAttached(warehouseRun(own))), Effect.andThen(fillWide))
})

/**
 * Each statement is a transaction of its own: DuckDB keeps a copy of the table or view for every comment until the commit,
 * which would be 760 MB for a view of 760 custom fields.
 */
const warehouseRun = (statements: ReadonlyArray<string>) =>
  Effect.flatMap(Warehouse, (warehouse) => warehouse.run(statements.join(";\n")))

/** Brings the attached copy of the previous release's file up to date. `contents`: of the previous release. */
export const updateSnapshot = Effect.fnUntraced(function* (
  tables: ReadonlyArray<TableChange>,
  contents: ReadonlyArray<TableContent>,
  stored: StoredTables
) {
  const filled = new Set(contents.flatMap((one) => (one.rows > 0 ? [pathOf(one.schema, { name: one.table })] : [])))
  const replaceAll = (from: string) => [
    ...(filled.has(from) || metaPaths.includes(from) ? [`DELETE FROM ${copyOf(from)}`] : []),
    ...(stored.of(from).rows > 0 ? [`INSERT INTO ${copyOf(from)} FROM ${from}`] : [])
  ]
  const replaceChanged = (from: string, table: TableChange) => [
    `DELETE FROM ${copyOf(from)} WHERE ${isChanged(table)}`,
    `INSERT INTO ${copyOf(from)} FROM ${changedRows(from, table)}`
  ]
  // One transaction: the blocks that a statement frees are only free after a checkpoint.
  yield* (yield* Warehouse).transaction([
    ...tables
      .filter(({ change }) => change !== "none")
      .flatMap((table) =>
        pathsOf(table).flatMap((from) =>
          table.change === "some" && !isSmall(stored.of(from)) ? replaceChanged(from, table) : replaceAll(from)
        )
      ),
    ...metaPaths.flatMap(replaceAll),
    ...(yield* updateWide(tables, stored, copyOf))
  ])
})

/**
 * The snapshot has the current rows in its main schema. DuckDB names the catalog of an opened file after the file, so both
 * `contacts` and `crm.contacts` find them; with a schema `crm` as well, `crm.contacts` would be ambiguous.
 */
export const copyOf = (path: string) => `${attachedName}.${path.replace(/^crm\./, "main.")}`

export const pathOf = (schema: string, table: { readonly name: string }): string => `${schema}.${name(table.name)}`

/** The tables of the warehouse that make up a published one; none for a wide view. */
export const pathsOf = (table: TableName) => (table.wide ? [] : [pathOf("crm", table), pathOf("crm_history", table)])
const metaPaths = publishedMetaTables.map((table) => `meta.${name(table)}`)

/** Runs `use` while a published DuckDB file, or one in the making, is attached as `attachedName`, then closes it. */
export const withAttached = Effect.fnUntraced(function* <A, R>(
  path: string,
  stored: StoredTables,
  use: Effect.Effect<A, Failure, R>,
  isUpdated = false
) {
  const { run } = yield* Warehouse
  const detach = run(`DETACH ${attachedName}`)
  return yield* Effect.acquireUseRelease(
    // A snapshot needs no write-ahead log, because an incomplete one is never used.
    run(`ATTACH ${literal(path)} AS ${attachedName} (RECOVERY_MODE no_wal_writes, ${storage})`),
    // Without a checkpoint, the rows would still be in a log next to the file, which is not published.
    () => Effect.tap(use, () => checkpointOf(stored, isUpdated)),
    // After a failure, only that failure is reported.
    (_, exit) => (Exit.isSuccess(exit) ? detach : Effect.ignore(detach))
  )
})

const checkpoint = Effect.flatMap(Warehouse, ({ run }) => run(`CHECKPOINT ${attachedName}`))

/**
 * Many rows need not stay in memory while the other files are written. And before it, the models of an updated file take up to
 * four times as long.
 */
export const checkpointIfMany = (stored: StoredTables, isUpdated: boolean) =>
  Effect.flatMap(hasManyRows(stored), (hasMany) => (hasMany ? checkpointOf(stored, isUpdated) : Effect.void))

/**
 * For each text column of each table, DuckDB builds a table of symbols to find out how well FSST would compress it. For a few
 * rows that takes four fifths of the checkpoint, and the file has the same size without; of 80,000 rows it is 8 % larger. In a
 * file that is updated every night, a checkpoint compresses whole tables again for a few changed rows: without FSST in half
 * the time, and the file is 3 % larger until it is written anew.
 */
const checkpointOf = (stored: StoredTables, isUpdated: boolean) =>
  Effect.flatMap(hasManyRows(stored), (hasMany) =>
    hasMany && !isUpdated
      ? checkpoint
      : bracketed("SET disabled_compression_methods = 'fsst'", checkpoint, "RESET disabled_compression_methods")
  )

const hasManyRows = (stored: StoredTables) =>
  Effect.map(Limits, ({ publish: { compressedRows } }) =>
    compressedRows.isExceededBy(
      [...stored].reduce((sum, [path, table]) => sum + (path.startsWith("meta.") ? 0 : table.rows), 0)
    )
  )

/** Runs `use` with the attached file as the database in which names are resolved, as a view does where it is created. */
export const inAttached = <A, R>(use: Effect.Effect<A, Failure, R>) =>
  bracketed(`USE ${attachedName}`, use, `USE ${catalogName}`)
