/** A DuckDB in memory for a few statements, without extensions that it would download. */
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api"

export const inMemory = async <A>(use: (connection: DuckDBConnection) => Promise<A>): Promise<A> => {
  const instance = await DuckDBInstance.create(":memory:", {
    memory_limit: "512MB",
    threads: "1",
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false"
  })
  const connection = await instance.connect()
  try {
    return await use(connection)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** The words that DuckDB accepts as names only in quotes. */
export const reservedWords = (): Promise<ReadonlySet<string>> =>
  inMemory(async (connection) => {
    const result = await connection.runAndReadAll(
      "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
    )
    return new Set(result.getRows().map(([word]) => String(word)))
  })
