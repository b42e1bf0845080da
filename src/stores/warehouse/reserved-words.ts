/** The words that DuckDB accepts as names only in quotes. */
import { inMemory } from "./in-memory.ts"

export const reservedWords = (): Promise<ReadonlySet<string>> =>
  inMemory(async (connection) => {
    const result = await connection.runAndReadAll(
      "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
    )
    return new Set(result.getRows().map(([word]) => String(word)))
  })
