/** Reads every value of every table, because DuckDB checks the checksum of a block only when it reads the block. */
import { Effect } from "effect"
import type { Failure } from "../../values/failure.ts"
import { warehouseName } from "../../output/paths.ts"
import { query } from "../../stores/warehouse/query.ts"
import { name } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { counted, wrong } from "../../values/finding.ts"
import { type Checked, type VerifyFinding, failureText } from "../../values/checked.ts"
import { rowsOfEach } from "./existing-tables.ts"

export const checkBlocks = Effect.fn("verify.blocks")(function* (): Effect.fn.Return<Checked, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const rows = yield* query(
    { schema: String, table: String, size: Number },
    `SELECT schema_name AS "schema", table_name AS "table", estimated_size AS size FROM duckdb_tables() WHERE database_name = current_database() ORDER BY ALL`
  )
  const tables = rows.map(({ schema, table, size }) => ({ table: `${schema}.${name(table)}`, size }))
  const filled = tables.filter(({ size }) => size > 0)
  const sumSql = ({ table }: (typeof tables)[number]) => `SELECT bit_xor(hash(t)) AS sum FROM ${table} AS t`
  const findings: Array<VerifyFinding> = []
  // Of tables that are read together, the failure does not name the damaged one.
  const oneByOne = Effect.forEach(filled, (one) =>
    Effect.catch(warehouse.rows(sumSql(one)), (failure) =>
      Effect.sync(() => findings.push(wrong(warehouseName, `${one.table}: ${failureText(failure)}`)))
    )
  )
  yield* Effect.catch(rowsOfEach({}, filled, sumSql), () => oneByOne)
  return { part: "warehouse", check: "blocks", looked: counted(tables.length, "table"), findings }
})
