/** What a published file says of its columns and of its freshness, beside the comments. */
import type { DuckDBConnection } from "@duckdb/node-api"
import type { Dictionary } from "./messages.ts"

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
