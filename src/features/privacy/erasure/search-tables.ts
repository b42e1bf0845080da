/** Searches the tables of a database for texts in their values, which are compressed on disk, and for the rows of records. */
import { Effect } from "effect"
import type { Resource } from "../../../catalog/resource.ts"
import { keyOf, keyText, tablesOf } from "../../../catalog/tables.ts"
import { columnsOf } from "../../../stores/warehouse/columns.ts"
import type { StoredColumn } from "../../../stores/warehouse/content.ts"
import { query, queryNumber, queryRow, whileAttached } from "../../../stores/warehouse/query.ts"
import { insertStatements, literal, name, selected } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { type Wanted, containsSql } from "./needles.ts"
import type { RecordKey } from "./job.ts"

export interface Found {
  /** A file, relative to the output folder if it is in it; for a table, followed by its name and column. */
  readonly place: string
  readonly label: string
  readonly form: string
}

/** What must not be found. */
export interface Sought {
  readonly texts: ReadonlyArray<Wanted>
  readonly records: ReadonlyArray<RecordKey>
  readonly resources: ReadonlyArray<Resource>
}

const keysTable = "memory.main.sought_records"

/** The functions below need this first. */
export const prepareSearch = Effect.fnUntraced(function* ({ records }: Sought) {
  const { run } = yield* Warehouse
  yield* run(`CREATE OR REPLACE TABLE ${keysTable} (table_name VARCHAR, location_id VARCHAR, key VARCHAR)`)
  const values = records.map(({ key, location, table }) => `(${[table, location, key].map(literal).join(", ")})`)
  for (const statement of insertStatements(keysTable, values)) yield* run(statement)
})

/** `place`: the file, as the result names it. */
export const searchParquet = Effect.fnUntraced(function* (path: string, place: string, sought: Sought) {
  const source = `read_parquet(${literal(path)})`
  if ((yield* queryNumber(`SELECT count(*) FROM ${source}`)) === 0) return []
  const columns = yield* columnsOf(`SELECT * FROM ${source}`)
  const [, table = ""] = /(?:^|\/)([^/]+)\/[^/]+$/.exec(place) ?? []
  return yield* searchTable(
    { source, columns },
    table,
    (column) => (column === undefined ? place : `${place} ${column}`),
    sought
  )
})

export const searchDatabase = (path: string, place: string, sought: Sought) =>
  whileAttached(path, "searched", searchTables("searched", place, sought))

/**
 * The tables of an attached database. Tables without a row, here and in Parquet, are not searched: most tables of an account
 * have none, and planning the search of their columns would take most of the time.
 */
export const searchTables = Effect.fnUntraced(function* (database: string, place: string, sought: Sought) {
  const tables = yield* query(
    { schema: String, table: String, columns: selected<ReadonlyArray<StoredColumn>> },
    `SELECT schema_name AS "schema", table_name AS "table", to_json(list({name: column_name, type: data_type} ORDER BY column_index))::VARCHAR AS columns
     FROM duckdb_columns()
     JOIN (SELECT table_oid FROM duckdb_tables() WHERE database_name = ${literal(database)} AND estimated_size > 0) USING (table_oid)
     WHERE database_name = ${literal(database)} GROUP BY table_oid, schema_name, table_name ORDER BY table_oid`
  )
  const found: Array<Found> = []
  for (const { schema, table, columns } of tables)
    found.push(
      ...(yield* searchTable(
        { source: `${name(database)}.${name(schema)}.${name(table)}`, columns },
        table,
        (column) => `${place} ${schema}.${table}${column === undefined ? "" : `.${column}`}`,
        sought
      ))
    )
  return found
})

const searchTable = Effect.fnUntraced(function* (
  { source, columns }: { readonly source: string; readonly columns: ReadonlyArray<StoredColumn> },
  /** The name by which the definitions know the table. */
  known: string,
  placeOf: (column?: string) => string,
  { resources, texts }: Sought
) {
  const searched = columns.filter(({ type }) => /VARCHAR|^JSON$/.test(type)).map((column) => column.name)
  const sought = searched.length === 0 ? [] : texts
  const found: Array<Found> = []
  const hits = Effect.fnUntraced(function* (values: string, wanted: ReadonlyArray<string>) {
    if (wanted.length === 0) return []
    const any = `to_json([${wanted.map((sql) => `bool_or(${sql})`).join(", ")}])::VARCHAR`
    const read = { hits: selected<ReadonlyArray<boolean | null>> }
    return (yield* queryRow(read, `SELECT ${any} AS hits FROM (SELECT ${values} FROM ${source})`)).hits
  })
  // Mostly there is none: an expression for each text in each column would take most of the time to plan.
  const row = `concat_ws(chr(31), ${searched.map((column) => `${name(column)}::VARCHAR`).join(", ")}) AS row`
  const containing = sought.map((text) => containsSql("row", text))
  const inRows = yield* hits(row, containing)
  const wanted = searched.flatMap((column) =>
    sought
      .filter((_, index) => inRows[index] === true)
      .map((text) => ({ column, label: text.label, sql: containsSql(`${name(column)}::VARCHAR`, text) }))
  )
  const expressions = wanted.map(({ sql }) => sql)
  const inColumns = yield* hits("*", expressions)
  for (const [index, { column, label }] of wanted.entries())
    if (inColumns[index] === true) found.push({ place: placeOf(column), label, form: "value" })
  const key = keyOfTable(resources, known)
  const names = new Set(columns.map((column) => column.name))
  if (key !== undefined && ["location_id", ...key.columns].every((column) => names.has(column))) {
    const n = yield* queryNumber(
      `SELECT count(*) FROM ${source} WHERE (location_id, ${key.sql}) IN
         (SELECT (location_id, key) FROM ${keysTable} WHERE table_name = ${literal(key.resource)})`
    )
    if (n > 0) found.push({ place: placeOf(), label: recordLabel, form: "row" })
  }
  return found
})

/** The label of a row of an erased record. */
export const recordLabel = "erased record"

/** How the rows of a table, or of its earlier versions, name their record. */
const keyOfTable = (resources: ReadonlyArray<Resource>, known: string) => {
  for (const resource of resources)
    for (const { name: table, parentColumn } of tablesOf(resource))
      if (table === known.replace(/_history$/, ""))
        return parentColumn === undefined
          ? { resource: resource.table, sql: keyText(resource), columns: keyOf(resource) }
          : { resource: resource.table, sql: name(parentColumn), columns: [parentColumn] }
  return undefined
}
