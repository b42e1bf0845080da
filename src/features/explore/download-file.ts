/** Writes the rows of a query to a file. */
import type { DuckDBConnection } from "@duckdb/node-api"
import { literal } from "../../stores/warehouse/sql.ts"
import { limits } from "./limits.ts"
import type { DownloadFormat } from "./messages.ts"
import { SqlError } from "./select-only.ts"

export const downloadTo = async (connection: DuckDBConnection, sql: string, format: DownloadFormat, file: string) => {
  // Whatever the text ends with, a comment or a semicolon, it is one query here.
  const all = `query(${literal(sql)})`
  const rows = `(FROM ${all} LIMIT ${limits.downloadRows + 1})`
  if (format === "xlsx") {
    const { writeQueryWorkbook } = await import("./download-xlsx.ts")
    return bounded(await writeQueryWorkbook(connection, rows, file))
  }
  const columns = await connection.runAndReadAll(`DESCRIBE FROM ${all}`)
  if (
    format === "parquet" &&
    new Set(columns.getRows().map(([column]) => String(column).toLowerCase())).size < columns.currentRowCount
  )
    throw new SqlError("refused", "Two columns have the same name, which Parquet does not permit. Rename one with AS.")
  const options = format === "csv" ? "FORMAT csv, HEADER" : "FORMAT parquet, COMPRESSION zstd"
  const [[count]] = (await connection.runAndReadAll(`COPY ${rows} TO ${literal(file)} (${options})`)).getRows() as [
    [bigint]
  ]
  return bounded(Number(count))
}

const bounded = (rows: number): number => {
  if (rows > limits.downloadRows)
    throw new SqlError(
      "refused",
      `The result has more than ${limits.downloadRows.toLocaleString("en-US")} rows. Add a LIMIT or a condition, or use the published Parquet files.`
    )
  return rows
}
