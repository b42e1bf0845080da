/**
 * Rows per second to Parquet and CSV: one table of 25 columns, as in the snapshot.
 *
 *     node_modules/.bin/node bench/publish.ts [rows]
 */
import { DuckDBInstance } from "@duckdb/node-api"
import { join } from "node:path"
import { median, newFolder } from "./measure.ts"

const rows = Number(process.argv[2] ?? 1_000_000)
const folder = newFolder()
const texts = Array.from({ length: 20 }, (_, n) => `'text ' || (i * ${n + 7} % 10007) AS text_${n}`)
const table = `CREATE TABLE wide AS SELECT 'id' || i AS id, ${texts.join(", ")}, i::DECIMAL(18, 4) / 7 AS money,
  to_timestamp(1700000000 + i) AS at, DATE '2020-01-01' + (i % 2000)::INTEGER AS day, i % 2 = 0 AS flag FROM range(${rows}) AS t (i)`

// The same options as warehouse/warehouse.ts and publish/publish.ts.
const instance = await DuckDBInstance.create(join(folder, "b.duckdb"), { memory_limit: "128MB", threads: "1" })
const connection = await instance.connect()
await connection.run(table)
await connection.run("CHECKPOINT")
for (const [name, options] of [
  ["parquet", "FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v1, ROW_GROUP_SIZE 20480"],
  ["csv", "FORMAT csv, HEADER"]
] as const) {
  const seconds: Array<number> = []
  for (let n = 0; n < 3; n++) {
    const start = performance.now()
    await connection.run(`COPY wide TO '${join(folder, `wide.${name}`)}' (${options})`)
    seconds.push((performance.now() - start) / 1000)
  }
  console.log(`${name}: ${Math.round(rows / median(seconds))} rows/s of 25 columns, median of 3`)
}
connection.closeSync()
instance.closeSync()
