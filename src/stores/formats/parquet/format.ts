/** Parquet: timestamps are UTC microseconds, money is exact, and every reader knows the encodings. */
import { Effect } from "effect"
import { hash } from "node:crypto"
import { join } from "node:path"
import { copyOrMake } from "../../../output/cache.ts"
import { queryNumber } from "../../warehouse/query.ts"
import { literal } from "../../warehouse/sql.ts"
import type { Format, Rows } from "../format.ts"

export const format: Format = {
  fileOf: (name) => join(name, "part-0.parquet"),
  write: (rows, path) => (rows.isEmpty ? copyEmpty(rows, path) : copyTo(rows, path)),
  reading: {
    from: (paths) => `read_parquet([${paths.map(literal).join(", ")}], hive_partitioning = false)`,
    areTexts: false
  }
}

/**
 * Bounds the memory of the Parquet writer: a row group, a sixth of DuckDB's default, and for each text column a dictionary
 * from its first row on, by default of a megabyte, which DuckDB's memory limit does not cover. Of 40,960 contacts, a row group
 * did not fit into the default limit, and four times the time went into moving it to disk and back. The files are no larger
 * with these bounds. A wide view may have hundreds of columns, most of them empty. The first level of zstd takes a fifth of the
 * time less than its default, for files of the same size.
 */
const bounds = "ROW_GROUP_SIZE 20480, STRING_DICTIONARY_PAGE_SIZE_LIMIT 65536"
const wideBounds = "ROW_GROUP_SIZE 2048, STRING_DICTIONARY_PAGE_SIZE_LIMIT 16384"

/** Returns the number of rows. */
const copyTo = (rows: Rows, path: string) =>
  queryNumber(`COPY (FROM ${rows.from}) TO ${literal(path)} (${optionsOf(rows)})`)

/** Most tables of a small account are empty, and their files the same in every release. */
const copyEmpty = (rows: Rows, path: string) => {
  const fingerprint = hash("sha256", JSON.stringify([rows.columns, optionsOf(rows)]))
  return Effect.as(
    copyOrMake(path, { kind: "parquet", fingerprint }, (at) => copyTo(rows, at)),
    0
  )
}

const optionsOf = ({ metadata: { description, sluice }, wide }: Rows): string =>
  `FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, PARQUET_VERSION v1, ${wide ? wideBounds : bounds}, ` +
  `KV_METADATA {description: ${literal(description)}, sluice: ${literal(sluice)}}`
