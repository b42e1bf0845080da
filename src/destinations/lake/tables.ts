/** The tables of the lake: those of the warehouse, by the same names, and the list of commits. */
import * as Effect from "effect/Effect"
import { numbers, readRows } from "../../values/rows.ts"
import { literal, name, selected } from "../../stores/warehouse/sql.ts"
import type { Lake } from "./lake.ts"

/** The catalog itself, as DuckLake attaches it. */
export const metadata = "__ducklake_metadata_lake"

/** The message of a snapshot that removes a location. */
export const removalMessage = "sluice location remove"

/** The schemas that the lake has in common with the warehouse. */
export const schemas = ["crm", "crm_history"] as const

/**
 * A row for each table that a commit changed. It is written in the transaction that changes the table, so it tells which
 * content of which location the lake has, and a reader can compare the number of rows with the table.
 */
export const commitColumns = {
  location_id: "VARCHAR",
  resource: "VARCHAR",
  table_name: "VARCHAR",
  version: "VARCHAR",
  rows: "BIGINT",
  history_rows: "BIGINT",
  run_id: "VARCHAR",
  committed_at: "TIMESTAMPTZ"
} as const

/** The newest commit of each table of a location. Ids of runs sort by time. */
export const newestCommitsSql = `(FROM lake.sluice.commits
  QUALIFY row_number() OVER (PARTITION BY location_id, table_name ORDER BY run_id DESC, committed_at DESC) = 1)`

/** The types of the columns, by `schema.table`. */
export type Tables = ReadonlyMap<string, ReadonlyMap<string, string>>

/** The tables of the lake, and of the warehouse that it is attached to. */
export const allTables = Effect.fnUntraced(function* ({ rows }: Lake) {
  // duckdb_tables() would read the sizes of all files of the lake.
  const found = yield* rows(
    `SELECT database_name AS database, schema_name || '.' || table_name AS path,
       to_json(list([column_name, data_type] ORDER BY column_index))::VARCHAR AS columns
     FROM duckdb_columns() WHERE database_name IN ('lake', 'warehouse') GROUP BY ALL`
  )
  const tables = { lake: new Map<string, Map<string, string>>(), warehouse: new Map<string, Map<string, string>>() }
  for (const { columns, database, path } of readRows(described, found))
    tables[database === "lake" ? "lake" : "warehouse"].set(path, new Map(columns))
  return tables
})

const described = { database: String, path: String, columns: selected<ReadonlyArray<[name: string, type: string]>> }

export const hasCommits = (lake: Tables): boolean => lake.has("sluice.commits")

/** The number of rows in each of the schemas. */
export type RowCounts = Readonly<Record<(typeof schemas)[number], number>>

/** What the newest commit of a location says about a table. */
export type CommittedTable = Effect.Success<ReturnType<typeof newestCommits>>[number]
export const newestCommits = Effect.fnUntraced(function* (
  { rows }: Lake,
  existing: Tables,
  locations: ReadonlyArray<string>
) {
  if (!hasCommits(existing)) return []
  const found = yield* rows(
    `SELECT location_id AS location, table_name AS "table", version, run_id AS run, rows AS crm, history_rows AS crm_history FROM ${newestCommitsSql} WHERE ${ofLocations(locations)}`
  )
  const columns = { location: String, table: String, version: String, run: String, ...numbers(...schemas) }
  return readRows(columns, found).map(({ crm, crm_history, ...commit }) => ({ ...commit, rows: { crm, crm_history } }))
})

export const ofLocations = (locations: ReadonlyArray<string>): string =>
  `location_id IN (${locations.map(literal).join(", ")})`

/** Statements that create what the lake lacks of these tables of the warehouse. */
export const tableStatements = (
  lake: Tables,
  warehouse: Tables,
  tables: ReadonlyArray<string>
): ReadonlyArray<string> => [
  ...(hasCommits(lake)
    ? []
    : [
        ...[...schemas, "sluice"].map((schema) => `CREATE SCHEMA IF NOT EXISTS lake.${schema}`),
        `CREATE TABLE lake.sluice.commits (${definitions(Object.entries(commitColumns))})`,
        "CALL lake.set_option('parquet_compression', 'zstd')"
      ]),
  ...schemas.flatMap((schema) =>
    tables.flatMap((table) => define(`${schema}.${table}`, `lake.${schema}.${name(table)}`, lake, warehouse))
  )
]

const define = (key: string, path: string, lake: Tables, warehouse: Tables): ReadonlyArray<string> => {
  const columns = [...warehouse.get(key)!]
  const existing = lake.get(key)
  if (existing === undefined)
    return [`CREATE TABLE ${path} (${definitions(columns)})`, `ALTER TABLE ${path} SET PARTITIONED BY (location_id)`]
  return columns.flatMap(([column, type]) =>
    !existing.has(column)
      ? [`ALTER TABLE ${path} ADD COLUMN ${name(column)} ${type}`]
      : existing.get(column) === type
        ? []
        : [`ALTER TABLE ${path} ALTER COLUMN ${name(column)} SET DATA TYPE ${type}`]
  )
}

const definitions = (columns: ReadonlyArray<readonly [name: string, type: string]>): string =>
  columns.map(([column, type]) => `${name(column)} ${type}`).join(", ")
