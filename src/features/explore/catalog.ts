/** The tables and views of a published file, with their descriptions. */
import type { DuckDBConnection } from "@duckdb/node-api"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { isStagingName } from "../../stages/publish/models/staging.ts"
import { type Readers, orNull, readRows } from "../../values/rows.ts"
import type { CatalogTable, Dictionary, NamedTable } from "./messages.ts"

const rowsOf = async <Columns extends Readers>(connection: DuckDBConnection, columns: Columns, sql: string) =>
  readRows(columns, (await connection.runAndReadAll(sql)).getRowObjectsJson())

/** Without their columns, of which a release has thousands. */
export const readTables = async (connection: DuckDBConnection): Promise<ReadonlyArray<NamedTable>> => {
  const tables = await rowsOf(
    connection,
    { schema: String, name: String, kind: String, comment: orNull(String), rows: orNull(Number) },
    `SELECT schema_name AS schema, table_name AS name, 'table' AS kind, comment, estimated_size AS rows FROM duckdb_tables() WHERE NOT internal
     UNION ALL
     SELECT schema_name, view_name, 'view', comment, NULL FROM duckdb_views() WHERE NOT internal
     ORDER BY schema, name`
  )
  return tables.map(({ kind, rows, ...table }) => ({
    ...table,
    kind: kind === "view" ? "view" : "table",
    ...(rows !== null && { rows }),
    ...(table.schema === "bi" && isStagingName(table.name) && { isStaging: true as const })
  }))
}

export const readCatalog = async (connection: DuckDBConnection): Promise<ReadonlyArray<CatalogTable>> => {
  const tables = await readTables(connection)
  const columns = Map.groupBy(
    await rowsOf(
      connection,
      { schema: String, name: String, column: String, type: String, comment: orNull(String) },
      'SELECT schema_name AS schema, table_name AS name, column_name AS "column", data_type AS type, comment FROM duckdb_columns() WHERE NOT internal ORDER BY column_index'
    ),
    ({ schema, name }) => `${schema}.${name}`
  )
  const deleted = await deletedRows(connection)
  const macros = new Set(
    (
      await rowsOf(
        connection,
        { schema: String, name: String },
        "SELECT schema_name AS schema, function_name AS name FROM duckdb_functions() WHERE NOT internal AND function_type = 'table_macro'"
      )
    ).map(({ schema, name }) => `${schema}.${name}`)
  )
  /** A release of an earlier version has no such macro. */
  const wideOf = (schema: string, name: string) => {
    const table = name.replace(/_wide(_.+)?$/, "")
    const shown = columns.get(`${schema}.${table}`)
    return table !== name && shown && macros.has(`${schema}.${name}_of`)
      ? { wide: { table, columns: shown.map((one) => one.column) } }
      : {}
  }
  return tables.map((table) => ({
    ...table,
    ...wideOf(table.schema, table.name),
    ...deleted.get(`${table.schema}.${table.name}`),
    columns: (columns.get(`${table.schema}.${table.name}`) ?? []).map(({ column, comment, type }) => ({
      name: column,
      type,
      comment
    }))
  }))
}

/** By table; not of one without any. */
const deletedRows = async (connection: DuckDBConnection) => {
  const tables = await rowsOf(
    connection,
    { schema: String, name: String },
    `SELECT schema_name AS schema, table_name AS name FROM duckdb_columns()
     SEMI JOIN (SELECT table_oid FROM duckdb_tables() WHERE estimated_size > 0) USING (table_oid)
     WHERE column_name = '_deleted_at' AND schema_name = 'main'`
  )
  const counts = tables.map(
    ({ name: table }) =>
      `SELECT ${literal(table)} AS name, count(_deleted_at)::INTEGER AS deleted FROM main.${name(table)}`
  )
  if (counts.length === 0) return new Map<string, { readonly deleted: number }>()
  const found = await rowsOf(connection, { name: String, deleted: Number }, counts.join("\nUNION ALL "))
  return new Map(found.flatMap(({ deleted, name }) => (deleted > 0 ? [[`main.${name}`, { deleted }] as const] : [])))
}

/** A release of an earlier version may have neither table. */
export const readDictionary = async (connection: DuckDBConnection): Promise<Dictionary> => {
  const rows = <Columns extends Readers>(columns: Columns, sql: string) =>
    rowsOf(connection, columns, sql).catch(() => [])
  const columns = await rows(
    { table: String, column: String, personal: String, refersTo: orNull(String) },
    `SELECT table_name AS "table", column_name AS "column", personal_data AS personal, refers_to AS "refersTo" FROM meta.columns`
  )
  const read = await rows(
    { resource: String, at: orNull(Number) },
    "SELECT resource, epoch_ms(min(complete_at)) AS at FROM meta.watermarks GROUP BY resource"
  )
  return {
    columns: columns.map(({ refersTo, ...column }) => ({ ...column, ...(refersTo !== null && { refersTo }) })),
    read: read.flatMap(({ resource, at }) => (at === null ? [] : [{ resource, at: new Date(at).toISOString() }]))
  }
}
