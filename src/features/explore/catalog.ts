/** The tables and views of a published file, with their descriptions. */
import type { DuckDBConnection } from "@duckdb/node-api"
import type { CatalogTable, Dictionary, NamedTable } from "./messages.ts"

const rowsOf = async (connection: DuckDBConnection, sql: string) =>
  (await connection.runAndReadAll(sql)).getRowObjectsJson() as ReadonlyArray<Found>

/** Without their columns, of which a release has thousands. */
export const readTables = async (connection: DuckDBConnection): Promise<ReadonlyArray<NamedTable>> => {
  const tables = await rowsOf(
    connection,
    `SELECT schema_name AS schema, table_name AS name, 'table' AS kind, comment, estimated_size AS rows FROM duckdb_tables() WHERE NOT internal
     UNION ALL
     SELECT schema_name, view_name, 'view', comment, NULL FROM duckdb_views() WHERE NOT internal
     ORDER BY schema, name`
  )
  return tables.map(({ schema, name, kind, comment, rows }) => ({
    schema: schema!,
    name: name!,
    kind: kind === "view" ? "view" : "table",
    comment: comment!,
    ...(rows !== null && { rows: Number(rows) })
  }))
}

export const readCatalog = async (connection: DuckDBConnection): Promise<ReadonlyArray<CatalogTable>> => {
  const rows = (sql: string) => rowsOf(connection, sql)
  const tables = await readTables(connection)
  const columns = Map.groupBy(
    await rows(
      "SELECT schema_name AS schema, table_name AS name, column_name, data_type, comment FROM duckdb_columns() WHERE NOT internal ORDER BY column_index"
    ),
    ({ schema, name }) => `${schema}.${name}`
  )
  const macros = new Set(
    (
      await rows(
        "SELECT schema_name AS schema, function_name AS name FROM duckdb_functions() WHERE NOT internal AND function_type = 'table_macro'"
      )
    ).map(({ schema, name }) => `${schema}.${name}`)
  )
  /** A release of an earlier version has no such macro. */
  const wideOf = (schema: string, name: string) => {
    const table = name.replace(/_wide(_\d+)?$/, "")
    const shown = columns.get(`${schema}.${table}`)
    return table !== name && shown && macros.has(`${schema}.${name}_of`)
      ? { wide: { table, columns: shown.map((column) => column["column_name"]!) } }
      : {}
  }
  return tables.map((table) => ({
    ...table,
    ...wideOf(table.schema, table.name),
    columns: (columns.get(`${table.schema}.${table.name}`) ?? []).map((column) => ({
      name: column["column_name"]!,
      type: column["data_type"]!,
      comment: column["comment"]!
    }))
  }))
}

type Found = Readonly<Record<string, string | null>>

/** A release of an earlier version may have neither table. */
export const readDictionary = async (connection: DuckDBConnection): Promise<Dictionary> => {
  const rows = async (sql: string) =>
    (await connection.runAndReadAll(sql).catch(() => undefined))?.getRowObjectsJson() ?? []
  const columns = await rows("SELECT table_name, column_name, personal_data, refers_to FROM meta.columns")
  const read = await rows("SELECT resource, epoch_ms(min(complete_at)) AS at FROM meta.watermarks GROUP BY resource")
  return {
    columns: columns.map((row) => ({
      table: String(row["table_name"]),
      column: String(row["column_name"]),
      personal: String(row["personal_data"]),
      ...(row["refers_to"] !== null && { refersTo: String(row["refers_to"]) })
    })),
    read: read.flatMap(({ resource, at }) =>
      at === null ? [] : [{ resource: String(resource), at: new Date(Number(at)).toISOString() }]
    )
  }
}
