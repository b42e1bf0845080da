/** The tables and views of a published file, with their descriptions. */
import type { DuckDBConnection } from "@duckdb/node-api"
import type { CatalogTable } from "./messages.ts"

export const readCatalog = async (connection: DuckDBConnection): Promise<ReadonlyArray<CatalogTable>> => {
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson() as ReadonlyArray<Found>
  const tables = await rows(
    `SELECT schema_name AS schema, table_name AS name, 'table' AS kind, comment, estimated_size AS rows FROM duckdb_tables() WHERE NOT internal
     UNION ALL
     SELECT schema_name, view_name, 'view', comment, NULL FROM duckdb_views() WHERE NOT internal
     ORDER BY schema, name`
  )
  const columns = Map.groupBy(
    await rows(
      "SELECT schema_name AS schema, table_name AS name, column_name, data_type, comment FROM duckdb_columns() WHERE NOT internal ORDER BY column_index"
    ),
    ({ schema, name }) => `${schema}.${name}`
  )
  return tables.map(({ schema, name, kind, comment, rows: count }) => ({
    schema: schema!,
    name: name!,
    kind: kind === "view" ? "view" : "table",
    comment: comment!,
    ...(count !== null && { rows: Number(count) }),
    columns: (columns.get(`${schema}.${name}`) ?? []).map((column) => ({
      name: column["column_name"]!,
      type: column["data_type"]!,
      comment: column["comment"]!
    }))
  }))
}

type Found = Readonly<Record<string, string | null>>
