/** The last stage: copies the warehouse to the files that people open, and replaces all of them at once or none. */
import { Effect } from "effect"
import { mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { Failure } from "../failure.ts"
import { onDisk } from "../io/files.ts"
import { snapshotName } from "../settings/paths.ts"
import { literal } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { columnsOf } from "./columns.ts"
import { contentOf, untouched } from "../warehouse/content.ts"
import { copyCsv } from "./csv.ts"
import { stateOf } from "./due.ts"
import { type PublishedFile, type PublishedTable, type Written, durableFile, writeManifest } from "./manifest.ts"
import { type TableName, partsOf } from "./chunks.ts"
import { snapshotHistory, snapshotSchema, snapshotTable, withSnapshot } from "./snapshot.ts"
import { copySpreadsheets } from "./spreadsheet-files.ts"
import { spreadsheetLimits } from "./spreadsheet.ts"
import { abandonRelease, beginRelease, commitRelease } from "./release.ts"

export interface PublishOptions {
  /** Becomes a link to the newest release; the releases are in a hidden folder next to it. */
  readonly folder: string
  readonly formats: ReadonlyArray<"duckdb" | "parquet" | "csv">
  readonly csvProfile: "machine" | "spreadsheet"
  readonly run: string
  readonly schemaVersion: string
  /** Statements that create views, macros and comments in the DuckDB file. */
  readonly views?: ReadonlyArray<string>
}

export interface Published {
  readonly files: ReadonlyArray<PublishedFile>
  readonly folder: string
}

/**
 * Needs disk space for one more release than the two that are kept. Every file contains the deleted rows, with `_deleted_at`.
 * The same warehouse gives the same bytes of Parquet and CSV, but not of the DuckDB file.
 */
export const publish = Effect.fn("publish")(function* (
  options: PublishOptions,
  tables: ReadonlyArray<TableName>
): Effect.fn.Return<Published, Failure, Warehouse> {
  const { folder, run, schemaVersion, formats, csvProfile } = options
  yield* dieIfReadOnly
  const state = yield* stateOf(options.views ?? [])
  const release = yield* beginRelease(folder, run)
  return yield* Effect.gen(function* () {
    const { contents, written } = yield* writeFiles(options, tables, release.building)
    // Flushing a small file is mostly waiting, so several files are flushed concurrently.
    const files = yield* Effect.forEach(written, (file) => durableFile(release.building, file), { concurrency: 8 })
    yield* writeManifest(release.building, {
      run,
      schemaVersion,
      formats,
      csvProfile,
      state,
      tables: contents,
      files
    })
    yield* commitRelease(release)
    return { files, folder }
  }).pipe(
    Effect.onError(() => abandonRelease(release)),
    Effect.mapError(({ reason }) => new Failure({ reason, unpublished: folder }))
  )
})

const writeFiles = Effect.fnUntraced(function* (
  { formats, csvProfile, views = [] }: PublishOptions,
  tables: ReadonlyArray<TableName>,
  building: string
) {
  // The snapshot is made even without the format duckdb, because the other files are copied from it.
  const result = yield* withSnapshot(
    join(building, snapshotName),
    tables,
    Effect.gen(function* () {
      const contents = yield* Effect.forEach(
        tables.filter(({ wide }) => !wide),
        (table) => tableContents(table, csvProfile === "spreadsheet" && formats.includes("csv"))
      )
      const files: Array<Written> = formats.includes("duckdb")
        ? [{ path: snapshotName, table: "*", rows: yield* currentRows(tables) }]
        : []
      for (const table of tables) {
        if (formats.includes("parquet")) files.push(...(yield* writeParquet(table, building)))
        if (formats.includes("csv")) files.push(...(yield* writeCsvFiles(table, csvProfile, building)))
      }
      return { contents: contents.flat(), written: files }
    }),
    views
  )
  if (!formats.includes("duckdb"))
    yield* onDisk(join(building, snapshotName), "removed", () => rm(join(building, snapshotName)))
  return result
})

/** Contents of the snapshot, which all files share. */
const tableContents = Effect.fnUntraced(function* (table: TableName, forSpreadsheets: boolean) {
  const schemas = [
    ["crm", snapshotTable(table)],
    ["crm_history", snapshotHistory(table)]
  ] as const
  return yield* Effect.forEach(schemas, ([schema, path]) =>
    Effect.gen(function* () {
      const columns = yield* columnsOf(path)
      const types = Object.fromEntries(columns.map((column) => [column.name, column.type]))
      const content = yield* contentOf(path, columns)
      const spreadsheets = forSpreadsheets ? yield* contentOf(path, untouched(columns)) : undefined
      return {
        schema,
        table: table.name,
        ...content,
        ...(spreadsheets && { untouchedSum: spreadsheets.sum }),
        columns: types
      } satisfies PublishedTable
    })
  )
})

const currentRows = Effect.fnUntraced(function* (tables: ReadonlyArray<TableName>) {
  const counts = tables.filter(({ wide }) => !wide).map((table) => `(SELECT count(*) FROM ${snapshotTable(table)})`)
  const [row] = yield* (yield* Warehouse).rows(`SELECT ${["0", ...counts].join(" + ")} AS rows`)
  return Number(row?.["rows"])
})

/**
 * Bounds the memory of the Parquet writer, which DuckDB's memory limit does not cover: a row group, a third of DuckDB's
 * default, and for each text column a dictionary from its first row on, by default of a megabyte. The files are no larger
 * with these bounds.
 */
const parquetBounds = "ROW_GROUP_SIZE 40960, STRING_DICTIONARY_PAGE_SIZE_LIMIT 65536"

/** Timestamps are UTC microseconds, money is exact, and every reader knows the encodings. */
const writeParquet = Effect.fnUntraced(function* (
  table: TableName,
  building: string
): Effect.fn.Return<ReadonlyArray<Written>, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  yield* makeFolder(building, "parquet", table.name)
  return yield* Effect.forEach(yield* partsOf(table, snapshotSchema), (part, index) => {
    const path = join("parquet", table.name, `part-${index}.parquet`)
    const copy = `COPY (FROM ${part}) TO ${literal(join(building, path))} (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v1, ${parquetBounds})`
    return Effect.map(warehouse.rows(copy), ([copied]) => ({
      path,
      table: table.name,
      rows: Number(copied?.["Count"])
    }))
  })
})

const writeCsvFiles = Effect.fnUntraced(function* (
  table: TableName,
  profile: "machine" | "spreadsheet",
  building: string
): Effect.fn.Return<ReadonlyArray<Written>, Failure, Warehouse> {
  yield* makeFolder(building, "csv")
  const folder = join(building, "csv")
  const spreadsheets =
    profile === "machine" ? [yield* copyCsv(table, folder)] : yield* copySpreadsheets(table, folder, spreadsheetLimits)
  return spreadsheets.map(({ file, rows }) => ({ path: join("csv", file), table: table.name, rows }))
})

const makeFolder = (...parts: ReadonlyArray<string>) =>
  onDisk(join(...parts), "created", () => mkdir(join(...parts), { recursive: true, mode: 0o700 }))

/** The write lock of the warehouse also prevents concurrent publishes, so a call without it is a defect. */
const dieIfReadOnly = Effect.gen(function* () {
  const [row] = yield* (yield* Warehouse).rows(
    "SELECT readonly FROM duckdb_databases() WHERE database_name = current_database()"
  )
  if (row?.["readonly"] === true) return yield* Effect.die(new Error("publish needs the warehouse open for writing"))
})
