/** Parquet files: timestamps are UTC microseconds, money is exact, and every reader knows the encodings. */
import { Effect } from "effect"
import { join } from "node:path"
import type { Failure } from "../failure.ts"
import { literal, name } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import type { TableName } from "./changes.ts"
import type { Written } from "./manifest.ts"

/** The file of a table in its folder. */
export const parquetName = "part-0.parquet"

/**
 * Bounds the memory of the Parquet writer, which DuckDB's memory limit does not cover: a row group, a third of DuckDB's
 * default, and for each text column a dictionary from its first row on, by default of a megabyte. The files are no larger
 * with these bounds.
 */
const bounds = "ROW_GROUP_SIZE 40960, STRING_DICTIONARY_PAGE_SIZE_LIMIT 65536"

/** Writes the file of a table into `folder`; its path is relative to it. */
export const writeParquet = Effect.fnUntraced(function* (
  table: TableName,
  folder: string
): Effect.fn.Return<Written, Failure, Warehouse> {
  const copy = `COPY (FROM crm.${name(table.name)}) TO ${literal(join(folder, parquetName))} (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v1, ${bounds})`
  const [copied] = yield* (yield* Warehouse).rows(copy)
  return { path: parquetName, table: table.name, rows: Number(copied?.["Count"]) }
})
