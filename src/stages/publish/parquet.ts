/** Parquet files: timestamps are UTC microseconds, money is exact, and every reader knows the encodings. */
import { Effect } from "effect"
import { join } from "node:path"
import type { Failure } from "../../values/failure.ts"
import { writeSmall } from "../../output/files.ts"
import type { StoredColumn } from "../../stores/warehouse/content.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import type { TableName } from "./changes.ts"
import type { CsvRow } from "./columns.ts"
import type { Written } from "./manifest.ts"
import { smallParquet, smallParquetBytes } from "./small-parquet.ts"

/** The key-value metadata of a file: a description, and facts as JSON. */
export interface ParquetMetadata {
  readonly description: string
  readonly sluice: string
}

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

/** Writes the file of a table into `folder`; its path is relative to it. `small`: its rows, if they are few. */
export const writeParquet = Effect.fnUntraced(function* (
  table: TableName,
  folder: string,
  columns: ReadonlyArray<StoredColumn> = [],
  small?: ReadonlyArray<CsvRow>
): Effect.fn.Return<Written, Failure, Warehouse> {
  const content = small && smallParquet(columns, small)
  if (small && content) {
    const path = join(folder, parquetName)
    yield* writeSmall(path, smallParquetBytes(content, small.length, metadataOf(table)))
    return { path: parquetName, table: table.name, rows: small.length }
  }
  const rows = yield* copyParquet(`crm.${name(table.name)}`, metadataOf(table), join(folder, parquetName))
  return { path: parquetName, table: table.name, rows }
})

/** Writes the rows of a relation. Returns the number of rows. */
export const copyParquet = Effect.fnUntraced(function* (
  from: string,
  metadata: ParquetMetadata,
  path: string
): Effect.fn.Return<number, Failure, Warehouse> {
  const copy = `COPY (FROM ${from}) TO ${literal(path)} (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v1, ${bounds}, ${metadataSql(metadata)})`
  const [copied] = yield* (yield* Warehouse).rows(copy)
  return Number(copied?.["Count"])
})

/** The metadata of a table: its description, key and columns. */
export const metadataOf = ({ definition, key, wide }: TableName): ParquetMetadata => {
  const own = definition.columns.map(({ name, description, personal, references }) => [
    name,
    { description, personalData: personal, ...(references && { refersTo: references }) }
  ])
  const custom = (wide?.columns ?? []).map(({ column, label, personal }) => [
    column,
    { description: label, personalData: personal }
  ])
  return metadataFrom(definition.description, { key, columns: Object.fromEntries([...own, ...custom]) as object })
}

export const metadataFrom = (description: string, facts: object): ParquetMetadata => ({
  description,
  sluice: JSON.stringify(facts)
})

/** The COPY option that adds the metadata to a file. */
export const metadataSql = ({ description, sluice }: ParquetMetadata): string =>
  `KV_METADATA {description: ${literal(description)}, sluice: ${literal(sluice)}}`
