/** Every value of every table read once: DuckDB checks the sum of a block only when it reads it. */
import { Effect } from "effect"
import type { Failure } from "../failure.ts"
import { name } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { type Checked, type Finding, counted, wrong } from "./finding.ts"

/** The file as a whole, where a finding is about no single table. */
export const warehouseFile = "warehouse.duckdb"

export const checkBlocks = Effect.fn("verify.blocks")(function* (): Effect.fn.Return<Checked, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const tables = yield* warehouse.rows(
    `SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = current_database() ORDER BY ALL`
  )
  const findings: Array<Finding> = []
  for (const row of tables) {
    const table = `${row["schema_name"]}.${name(String(row["table_name"]))}`
    yield* warehouse
      .rows(`SELECT bit_xor(hash(t)) AS sum FROM ${table} AS t`)
      .pipe(
        Effect.catch(({ message }) => Effect.sync(() => findings.push(wrong(warehouseFile, `${table}: ${message}`))))
      )
  }
  return { part: "warehouse", check: "blocks", looked: counted(tables.length, "table"), findings }
})
