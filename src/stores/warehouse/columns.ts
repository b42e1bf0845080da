/** The columns of a table, and SELECTs that return every value as its text in a CSV file. */
import { Effect } from "effect"
import { isText } from "../../catalog/kinds.ts"
import { TotalMap } from "../../catalog/present.ts"
import { type StoredColumn, fileTextOf } from "./content.ts"
import { isAny, query, queryTexts } from "./query.ts"
import { literal, name, selected } from "./sql.ts"
import type { Catalogue } from "../../catalog/discover.ts"

export type CsvRow = ReadonlyArray<string | null>

export const columnsOf = Effect.fnUntraced(function* (path: string) {
  const rows = yield* query({ column_name: String, column_type: String }, `DESCRIBE ${path}`)
  return rows.map((row): StoredColumn => ({ name: row.column_name, type: row.column_type }))
})

/** A table or view of the warehouse. */
export interface StoredTable {
  readonly columns: ReadonlyArray<StoredColumn>
  /** Rows that were deleted since the last checkpoint count too; a view has 0. */
  readonly rows: number
}

export type StoredTables = TotalMap<string, StoredTable>

/**
 * The tables and views of some schemas of a database, which is given as SQL, by path. Describing each by a statement would take
 * ten times as long.
 */
export const tablesIn = Effect.fnUntraced(function* (database: string, schemas: ReadonlyArray<string>) {
  const rows = yield* query(
    { schema_name: String, table_name: String, rows: Number, columns: selected<ReadonlyArray<StoredColumn>> },
    `SELECT schema_name, table_name, coalesce(any_value(estimated_size), 0)::VARCHAR AS rows,
       to_json(list({name: column_name, type: data_type} ORDER BY column_index))::VARCHAR AS columns
     FROM duckdb_columns() LEFT JOIN (SELECT table_oid, estimated_size FROM duckdb_tables()) USING (table_oid)
     WHERE database_name = ${database} AND schema_name IN (${schemas.map(literal).join(", ")}) GROUP BY schema_name, table_name`
  )
  return new TotalMap(
    rows.map(({ schema_name: schema, table_name: table, ...stored }): [string, StoredTable] => [
      `${schema}.${name(table)}`,
      stored
    ])
  )
})

export const storedTables = tablesIn("current_database()", ["crm", "crm_history", "meta"])

/**
 * About how many rows each table has, as `schema.table`, in a database that is given as SQL. DuckDB's estimate counts deleted
 * rows until it reclaims their space, so it is never too low: a table of size 0 is empty.
 */
export const tableSizes = Effect.fnUntraced(function* (database: string) {
  const rows = yield* query(
    { path: String, size: Number },
    `SELECT schema_name || '.' || table_name AS path, estimated_size AS size FROM duckdb_tables()
     WHERE database_name = ${database}`
  )
  return new Map(rows.map(({ path, size }) => [path, size]))
})

export const selectText = (path: string, columns: ReadonlyArray<StoredColumn>): string =>
  select(path, columns, fileTextOf)

/**
 * The same for rows that the driver returns: it removes a byte order mark at the beginning of a text, so one is added to
 * those that have one.
 */
export const selectStream = (path: string, columns: ReadonlyArray<StoredColumn>): string =>
  select(path, columns, (column) =>
    isText(column.type)
      ? `CASE WHEN starts_with(${fileTextOf(column)}, chr(65279)) THEN chr(65279) || ${fileTextOf(column)} ELSE ${fileTextOf(column)} END`
      : fileTextOf(column)
  )

const select = (path: string, columns: ReadonlyArray<StoredColumn>, expression: (column: StoredColumn) => string) =>
  `SELECT ${columns.map((column) => `${expression(column)} AS ${name(column.name)}`).join(", ")} FROM ${path}`

/** Tables with rows that no definition describes: those of the user's own definitions while their folder is not set. */
export const undefinedTables = Effect.fn("warehouse.undefinedTables")(function* ({ familyByTable }: Catalogue) {
  const stored = yield* queryTexts("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'crm' ORDER BY ALL")
  const unknown = stored.filter((table) => !familyByTable.has(table))
  return yield* Effect.filter(unknown, (table) => isAny(`crm.${name(table)}`))
})
