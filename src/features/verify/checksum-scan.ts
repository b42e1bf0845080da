/** Reads every value of every table, because DuckDB checks the checksum of a block only when it reads the block. */
import { Effect } from "effect"
import type { Failure } from "../../values/failure.ts"
import { warehouseName } from "../../output/paths.ts"
import { name } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { counted, wrong } from "../../values/finding.ts"
import { type Checked, type VerifyFinding, failureText } from "./checked.ts"

export const checkBlocks = Effect.fn("verify.blocks")(function* (): Effect.fn.Return<Checked, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const tables = yield* warehouse.rows(
    `SELECT schema_name, table_name, estimated_size > 0 AS filled FROM duckdb_tables()
     WHERE database_name = current_database() ORDER BY ALL`
  )
  const findings: Array<VerifyFinding> = []
  for (const row of tables.filter(({ filled }) => filled === true)) {
    const table = `${row["schema_name"]}.${name(String(row["table_name"]))}`
    yield* warehouse
      .rows(`SELECT bit_xor(hash(t)) AS sum FROM ${table} AS t`)
      .pipe(
        Effect.catch((failure) =>
          Effect.sync(() => findings.push(wrong(warehouseName, `${table}: ${failureText(failure)}`)))
        )
      )
  }
  return { part: "warehouse", check: "blocks", looked: counted(tables.length, "table"), findings }
})
