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
