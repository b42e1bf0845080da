/** The words that DuckDB accepts as names only in quotes. */
import { DuckDBInstance } from "@duckdb/node-api"

export const reservedWords = async (): Promise<ReadonlySet<string>> => {
  const instance = await DuckDBInstance.create(":memory:")
  const connection = await instance.connect()
  try {
    const result = await connection.runAndReadAll(
      "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
    )
    return new Set(result.getRows().map(([word]) => String(word)))
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
