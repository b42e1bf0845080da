/** A DuckDB in memory that can read the files of one folder, and no others. */
import { inMemory } from "../../../stores/warehouse/in-memory.ts"
import { type Row } from "../../../stores/warehouse/warehouse.ts"
import { literal } from "../../../stores/warehouse/sql.ts"

/** Returns the rows of a query. BIGINT and DECIMAL are text. */
export type Ask = (sql: string) => Promise<ReadonlyArray<Row>>

/** Files of others are read here, so DuckDB must not follow a name in them to another place. */
export const withDatabase = <A>(folder: string, use: (ask: Ask) => Promise<A>): Promise<A> =>
  inMemory(async (connection) => {
    await connection.run(
      `SET TimeZone = 'UTC'; SET allowed_directories = [${literal(folder)}]; SET enable_external_access = false;
       SET lock_configuration = true`
    )
    return use(async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson() as Array<Row>)
  })
