/** Parquet files: timestamps are UTC microseconds, money is exact, and every reader knows the encodings. */
import { Effect } from "effect"
import { join } from "node:path"
import type { Failure } from "../failure.ts"
import { literal } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import type { TableName } from "./changes.ts"
import { partsOf } from "./chunks.ts"
import type { Written } from "./manifest.ts"

/**
 * Bounds the memory of the Parquet writer, which DuckDB's memory limit does not cover: a row group, a third of DuckDB's
 * default, and for each text column a dictionary from its first row on, by default of a megabyte. The files are no larger
 * with these bounds.
 */
const bounds = "ROW_GROUP_SIZE 40960, STRING_DICTIONARY_PAGE_SIZE_LIMIT 65536"

/** Writes the files of a table into `folder`; their paths are relative to it. */
export const writeParquet = Effect.fnUntraced(function* (
  table: TableName,
  folder: string
): Effect.fn.Return<ReadonlyArray<Written>, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  return yield* Effect.forEach(yield* partsOf(table, "crm"), (part, index) => {
    const path = `part-${index}.parquet`
    const copy = `COPY (FROM ${part}) TO ${literal(join(folder, path))} (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v1, ${bounds})`
    return Effect.map(warehouse.rows(copy), ([copied]) => ({
      path,
      table: table.name,
      rows: Number(copied?.["Count"])
    }))
  })
})
