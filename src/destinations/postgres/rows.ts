/** The rows of a release that a database does not have yet, and those that it has no more, as files for COPY. */
import * as Effect from "effect/Effect"
import { stat } from "node:fs/promises"
import { onDisk } from "../../output/files.ts"
import { textOfKey } from "../../catalog/tables.ts"
import { partsOf } from "../../stores/warehouse/parts.ts"
import { query, queryNumber, queryTexts } from "../../stores/warehouse/query.ts"
import { literal, name, names } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import type { ReleaseTable } from "./release-tables.ts"
import type { Server } from "./server.ts"
import { heldRows, isPlain, unheldJson, textBytesMax } from "./held.ts"

/** The DuckDB file that was loaded last, while it is attached. */
export const loadedName = "sluice_loaded"

/** The records that have changed since then, if they are known: columns `resource` and `key`. */
export const recordsName = "sluice_records"

/** Rows in a file at a time. */
const rowsEach = 100_000

const pathOf = (database: string, { schema, table }: { readonly schema: string; readonly table: string }): string =>
  `${database}.${schema}.${name(table)}`

/** What a table and its rows need, so that all rows can be sent. */
interface Sending {
  readonly file: string
  /** Columns whose values are sent as they are. */
  readonly plain?: ReadonlySet<string>
  /** No table of the release has more rows than a file. */
  readonly isSmall?: boolean
}

/** Inserts rows. `parts`: relations in DuckDB, with the columns of the table. */
const insert = Effect.fnUntraced(function* (
  server: Server,
  { columns, duckdbKey, name: table, path }: Pick<ReleaseTable, "columns" | "duckdbKey" | "name" | "path">,
  parts: ReadonlyArray<string>,
  { file, plain }: Sending
) {
  const warehouse = yield* Warehouse
  const quote = columns.length === 1 ? `, FORCE_QUOTE (${name(columns[0]!.as)})` : ""
  const statement = `COPY ${path} (${names(columns.map(({ as }) => as))}) FROM STDIN (FORMAT csv)`
  for (const part of parts) {
    const write = Effect.fnUntraced(function* (as?: Parameters<typeof heldRows>[2]) {
      const values = heldRows({ name: table, columns, key: duckdbKey }, part, as)
      yield* warehouse.run(`COPY (${values}) TO ${literal(file)} (FORMAT csv, HEADER false${quote})`)
      return yield* onDisk(file, "read", async () => (await stat(file)).size)
    })
    let size = yield* write((column) => (plain?.has(column.name) ? name(column.name) : undefined))
    // In a file that is shorter, no text is too long.
    if (plain !== undefined && size > textBytesMax) size = yield* write()
    if (size > 0) yield* server.copyFrom(statement, file, size)
  }
})

export const insertAll = Effect.fnUntraced(function* (server: Server, table: ReleaseTable, sending: Sending) {
  const path = pathOf("crm", table)
  if (table.rows === 0) return
  if (table.rows === undefined && table.wide)
    return yield* insert(server, table, yield* partsOf({ name: table.table, wide: table.wide }, "crm"), sending)
  if (table.rows === undefined ? sending.isSmall : table.rows <= rowsEach)
    return yield* insert(server, table, [path], sending)
  if (table.rows !== undefined) return yield* insert(server, table, yield* partsIn(path), sending)
  // Each part of a view would read all rows.
  yield* insertStored(server, table, path, sending)
})

/** Inserts the rows of a query, which is run once. */
const insertStored = Effect.fnUntraced(function* (server: Server, table: ReleaseTable, from: string, sending: Sending) {
  const { run } = yield* Warehouse
  yield* run(`CREATE OR REPLACE TEMP TABLE ${storedRows} AS FROM ${from}`)
  yield* insert(server, table, yield* partsIn(storedRows), sending)
  yield* run(`DROP TABLE ${storedRows}`)
})
const storedRows = "sluice_rows"

/** Whether no table has more rows than a file. A view may have, but its rows are then at most as many as a few tables have together. */
export const areSmall = (tables: ReadonlyArray<ReleaseTable>): boolean =>
  tables.every(({ rows = 0 }) => rows <= rowsEach)

/** The columns of each table whose values PostgreSQL holds as they are, or refuses. `tables`: those of the file, no views. */
export const plainColumns = Effect.fn("postgres.plainColumns")(function* (tables: ReadonlyArray<ReleaseTable>) {
  const looks = tables.flatMap((table, index) => {
    const mayBeUnheld = unheldJson(table.columns)
    return table.rows && mayBeUnheld !== undefined
      ? [`SELECT ${index} AS place FROM ${pathOf("crm", table)} HAVING ${mayBeUnheld}`]
      : []
  })
  const unheld = new Set(looks.length === 0 ? [] : yield* queryTexts(looks.join(" UNION ALL ")))
  return tables.map((table, index) => {
    const isKnown = table.rows !== undefined && !unheld.has(String(index))
    return new Set(table.columns.filter((column) => isPlain(column, isKnown)).map((column) => column.name))
  })
})

const partsIn = Effect.fnUntraced(function* (path: string) {
  const last = yield* queryNumber(`SELECT coalesce(max(rowid), -1) FROM ${path}`)
  return Array.from(
    { length: Math.floor(last / rowsEach) + 1 },
    (_, part) => `(FROM ${path} WHERE rowid BETWEEN ${part * rowsEach} AND ${(part + 1) * rowsEach - 1})`
  )
})

/** Where the keys of changed rows are. */
const keysOf = (table: ReleaseTable): string => name(`sluice_changed_${table.name}`)

/** Some rows of a table. Of all others, DuckDB reads only the columns of the condition. A model may be a view, which has no row ids. */
const someRows = (path: string, { schema }: Pick<ReleaseTable, "schema">, condition: string): string =>
  schema === "bi"
    ? `(FROM ${path} WHERE ${condition})`
    : `(FROM ${path} WHERE rowid IN (SELECT rowid FROM ${path} WHERE ${condition}))`

/** The rows whose columns are keys or indexed; those of a wide view are in its table. */
export const indexedRows = (table: ReleaseTable, which: "all" | "changed"): string => {
  const path = pathOf("crm", table.wide ? { ...table, table: table.wide.table } : table)
  const key = names(table.duckdbKey)
  return which === "all" ? path : someRows(path, table, `(${key}) IN (SELECT (${key}) FROM ${keysOf(table)})`)
}

/** The hash of a row. A column that a file does not have is NULL in all its rows. */
const rowHash = (table: ReleaseTable, existing: ReadonlySet<string>): string =>
  `hash(${table.columns.map((column) => (existing.has(column.name) ? name(column.name) : "NULL")).join(", ")})`

/** Attaches the file that was loaded last, and lists its columns by path: one statement, because DuckDB looks at all tables. */
export const attachLoaded = Effect.fn("postgres.attachLoaded")(function* (file: string) {
  yield* (yield* Warehouse).run(`ATTACH ${literal(file)} AS ${loadedName} (READ_ONLY)`)
  const columns = yield* query(
    { schema: String, table: String, column: String },
    `SELECT schema_name AS schema, table_name AS "table", column_name AS "column" FROM duckdb_columns()
     WHERE database_name = '${loadedName}'`
  )
  return Map.groupBy(columns, (one) => pathOf(loadedName, one))
})

/**
 * Finds the rows that differ between the file that was loaded last and this one. Returns how many, or `undefined` if the
 * files cannot be compared. `isFew`: all of them belong to records that are known.
 */
export const findChanged = Effect.fn("postgres.findChanged")(function* (
  table: ReleaseTable,
  loaded: Effect.Success<ReturnType<typeof attachLoaded>>,
  isFew: boolean
) {
  const warehouse = yield* Warehouse
  const before = new Set(loaded.get(pathOf(loadedName, table))?.map(({ column }) => column))
  if (before.size === 0 || !table.duckdbKey.every((column) => before.has(column))) return undefined
  const now = new Set(table.columns.map((column) => column.name))
  const key = names(table.duckdbKey)
  const { records } = table
  const among = (database: string) =>
    isFew && records
      ? someRows(
          pathOf(database, table),
          table,
          `${textOfKey(records.key)} IN (SELECT key FROM ${recordsName} WHERE resource = ${literal(records.resource)})`
        )
      : pathOf(database, table)
  const hashes = (database: string, columns: ReadonlySet<string>) =>
    `SELECT ${rowHash(table, columns)} FROM ${among(database)}`
  // A row is its hash: comparing 64 bits takes a fraction of the time and memory that comparing keys would.
  const missing = (database: string, columns: ReadonlySet<string>, other: string) =>
    `SELECT ${key} FROM ${among(database)} WHERE ${rowHash(table, columns)} NOT IN (${other})`
  yield* warehouse.run(
    `CREATE OR REPLACE TEMP TABLE ${keysOf(table)} AS
     ${missing("crm", now, hashes(loadedName, before))} UNION ${missing(loadedName, before, hashes("crm", now))}`
  )
  return yield* count(table)
})

/** The rows of a wide view whose record or custom values have changed, which are known by now. */
export const findChangedWide = Effect.fnUntraced(function* (
  table: ReleaseTable,
  wide: NonNullable<ReleaseTable["wide"]>,
  changed: { readonly records: ReleaseTable | undefined; readonly values: ReleaseTable | undefined }
) {
  const { records, values } = changed
  const sources = [
    ...(records ? [`SELECT ${names(table.duckdbKey)} FROM ${keysOf(records)}`] : []),
    ...(values ? [`SELECT location_id, ${name(wide.parent)} FROM ${keysOf(values)}`] : [])
  ]
  if (sources.length === 0) return 0
  yield* (yield* Warehouse).run(
    `CREATE OR REPLACE TEMP TABLE ${keysOf(table)} (${table.duckdbKey.map((column) => `${name(column)} VARCHAR`).join(", ")});
     INSERT INTO ${keysOf(table)} ${sources.join(" UNION ")}`
  )
  return yield* count(table)
})

const count = (table: ReleaseTable) => queryNumber(`SELECT count(*) FROM ${keysOf(table)}`)

/** Every row counts as changed. */
export const takeAllKeys = Effect.fnUntraced(function* (table: ReleaseTable) {
  yield* (yield* Warehouse).run(
    `CREATE OR REPLACE TEMP TABLE ${keysOf(table)} AS SELECT ${names(table.duckdbKey)} FROM ${pathOf("crm", table)}`
  )
})

/** Replaces the changed rows in the database. */
export const replaceChanged = Effect.fn("postgres.replaceChanged")(function* (
  server: Server,
  table: ReleaseTable,
  file: string
) {
  const columns = table.columns.filter((column) => table.duckdbKey.includes(column.name))
  yield* server.run([
    `CREATE TEMP TABLE "_sluice_keys" (${columns.map(({ as, sql }) => `${name(as)} ${sql}`).join(", ")}) ON COMMIT DROP`
  ])
  yield* insert(server, { ...table, columns, path: '"_sluice_keys"' }, [keysOf(table)], { file })
  const isSame = columns.map(({ as }) => `t.${name(as)} = k.${name(as)}`).join(" AND ")
  yield* server.run([
    'ANALYZE "_sluice_keys"',
    `DELETE FROM ${table.path} AS t USING "_sluice_keys" AS k WHERE ${isSame}`,
    'DROP TABLE "_sluice_keys"'
  ])
  if (!table.wide) return yield* insert(server, table, [indexedRows(table, "changed")], { file })
  const changed = table.wide.among("crm", `(SELECT ${name(table.duckdbKey.at(-1)!)} FROM ${keysOf(table)})`)
  // Each value is checked several times, so its reading would be planned as often.
  const rows = `(FROM (${changed}) SEMI JOIN ${keysOf(table)} USING (${names(table.duckdbKey)}))`
  yield* insertStored(server, table, rows, { file })
})
