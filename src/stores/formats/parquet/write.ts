/** Writes the Parquet file of a relation. */
import { Effect } from "effect"
import { writeSmall } from "../../../output/files.ts"
import { literal } from "../../warehouse/sql.ts"
import { Warehouse } from "../../warehouse/warehouse.ts"
import type { Metadata, Rows } from "../format.ts"
import { smallParquet, smallParquetBytes } from "./small.ts"

/** The file of a table in its folder. */
export const parquetName = "part-0.parquet"

/**
 * Bounds the memory of the Parquet writer: a row group, a sixth of DuckDB's default, and for each text column a dictionary
 * from its first row on, by default of a megabyte, which DuckDB's memory limit does not cover. Of 40,960 contacts, a row group
 * did not fit into the default limit, and four times the time went into moving it to disk and back. The files are no larger
 * with these bounds.
 */
export const rowGroupRows = 20_480
const bounds = `ROW_GROUP_SIZE ${rowGroupRows}, STRING_DICTIONARY_PAGE_SIZE_LIMIT 65536`

/** Writes the file `path`. Returns the number of rows. */
export const writeParquet = Effect.fnUntraced(function* ({ columns, from, metadata, texts }: Rows, path: string) {
  const content = texts && smallParquet(columns, texts)
  if (!texts || !content) return yield* copyParquet(from, metadata, path)
  yield* writeSmall(path, smallParquetBytes(content, texts.length, metadata))
  return texts.length
})

/** The same, by DuckDB. */
export const copyParquet = Effect.fnUntraced(function* (from: string, metadata: Metadata, path: string) {
  const copy = `COPY (FROM ${from}) TO ${literal(path)} (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v1, ${bounds}, ${metadataSql(metadata)})`
  const [copied] = yield* (yield* Warehouse).rows(copy)
  return Number(copied?.["Count"])
})

/** The COPY option that adds the metadata to a file. */
export const metadataSql = ({ description, sluice }: Metadata): string =>
  `KV_METADATA {description: ${literal(description)}, sluice: ${literal(sluice)}}`
