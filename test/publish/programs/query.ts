/** Another process that reads a published file: `query.ts <file> <sql>` prints the rows as JSON. */
import { DuckDBInstance } from "@duckdb/node-api"

const [file, sql] = process.argv.slice(2)
const instance = await DuckDBInstance.create(file, { access_mode: "READ_ONLY" })
const connection = await instance.connect()
await connection.run("SET TimeZone = 'UTC'")
process.stdout.write(JSON.stringify((await connection.runAndReadAll(sql!)).getRowObjectsJson()))
