/** The last stage: from the warehouse to the files that people open. They are replaced all at once or not at all. */
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
  /** Becomes a link to the newest version; the versions are in a hidden folder beside it. */
  readonly folder: string
  readonly formats: ReadonlyArray<"duckdb" | "parquet" | "csv">
  readonly csvProfile: "machine" | "spreadsheet"
  readonly run: string
  readonly schemaVersion: string
  /** Statements that make views and macros in the DuckDB file. */
  readonly views?: ReadonlyArray<string>
}

export interface Published {
  readonly files: ReadonlyArray<PublishedFile>
  readonly folder: string
}

/**
 * Needs room for a whole version beside the two that stay. Deleted rows are in every file, with their `_deleted_at`.
 * The same warehouse gives the same bytes of Parquet and CSV; a DuckDB file is different bytes each time.
 */
export const publish = Effect.fn("publish")(function* (
  options: PublishOptions,
  tables: ReadonlyArray<TableName>
): Effect.fn.Return<Published, Failure, Warehouse> {
  const { folder, run, schemaVersion, formats, csvProfile } = options
  yield* refuseReadOnly
  const state = yield* stateOf(options.views ?? [])
  const version = yield* beginRelease(folder, run)
  return yield* Effect.gen(function* () {
    const { contents, written } = yield* writeFiles(options, tables, version.building)
    // Bringing a small file to the disk is waiting, so many wait together.
    const files = yield* Effect.forEach(written, (file) => durableFile(version.building, file), { concurrency: 8 })
    yield* writeManifest(version.building, {
      run,
      schemaVersion,
      formats,
      csvProfile,
      state,
      tables: contents,
      files
    })
    yield* commitRelease(version)
    return { files, folder }
  }).pipe(
    Effect.onError(() => abandonRelease(version)),
    Effect.mapError(({ reason }) => new Failure({ reason, unpublished: folder }))
  )
})

const writeFiles = Effect.fnUntraced(function* (
  { formats, csvProfile, views = [] }: PublishOptions,
  tables: ReadonlyArray<TableName>,
  building: string
) {
  // The copy is made even where nobody wants it: it is the one moment that the other files agree on.
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

/** Of the copy: the one moment that all files show. */
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
 * What the writer of Parquet holds: a row group beside DuckDB's own bound, a third of what DuckDB would take, and for each
 * column of text a dictionary from its first row on, of a megabyte where nothing is said. The files are as small with less.
 */
const bounded = "ROW_GROUP_SIZE 40960, STRING_DICTIONARY_PAGE_SIZE_LIMIT 65536"

/** Instants are UTC microseconds, money is exact; the plain encodings that every reader knows. */
const writeParquet = Effect.fnUntraced(function* (
  table: TableName,
  building: string
): Effect.fn.Return<ReadonlyArray<Written>, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  yield* makeFolder(building, "parquet", table.name)
  return yield* Effect.forEach(yield* partsOf(table, snapshotSchema), (part, index) => {
    const path = join("parquet", table.name, `part-${index}.parquet`)
    const copy = `COPY (FROM ${part}) TO ${literal(join(building, path))} (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v1, ${bounded})`
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

/** A writer's lock on the warehouse is also what keeps two publishes apart; asking without it is a mistake of ours. */
const refuseReadOnly = Effect.gen(function* () {
  const [row] = yield* (yield* Warehouse).rows(
    "SELECT readonly FROM duckdb_databases() WHERE database_name = current_database()"
  )
  if (row?.["readonly"] === true) return yield* Effect.die(new Error("publish needs the warehouse open for writing"))
})
