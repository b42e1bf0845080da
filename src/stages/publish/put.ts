/** Puts the files of one table, or the DuckDB file, into a new release: linked, updated or written anew. */
import { Effect } from "effect"
import { constants } from "node:fs"
import { copyFile, link, mkdir } from "node:fs/promises"
import { join } from "node:path"
import type { Failure } from "../../values/failure.ts"
import { onDisk } from "../../output/files.ts"
import { snapshotName } from "../../output/paths.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import type { TableChange } from "./changes.ts"
import { partsOf } from "./chunks.ts"
import { hasTextKey, updateCsv, writeCsv, writeRows } from "./csv.ts"
import { type OldContents, pathOf } from "./contents.ts"
import type { Manifest, PreviousRelease, PublishedFile, TableContent, Written } from "./manifest.ts"
import { updateParquet } from "./parquet-delta.ts"
import { parquetName, writeParquet } from "./parquet.ts"
import type { Making } from "./release.ts"
import { type SnapshotStatements, updateSnapshot, writeSnapshot } from "./snapshot.ts"
import { updateWideCsv, writeWideCsv } from "./wide-csv.ts"
import { writeWideParquet } from "./wide-parquet.ts"
import { writeSpreadsheets } from "./spreadsheet-files.ts"

/** A file with its checksum is a link to one of the previous release. */
export type Put = Written | PublishedFile

export const putParquet = Effect.fnUntraced(function* (
  table: TableChange,
  { building, previous, stored, small }: Making
): Effect.fn.Return<ReadonlyArray<Put>, Failure, Warehouse> {
  const folder = join("parquet", table.name)
  yield* makeFolder(join(building, folder))
  const before = filesOf(previous, table, "parquet")
  if (table.change === "none" && before.length > 0) return yield* linkAll(before, building, previous!)
  const { wide } = table
  const [old] = before
  if (!wide) {
    const path = pathOf("crm", table)
    const rows = small.get(path)
    return below(folder, [
      table.change === "some" && old && !rows
        ? yield* updateParquet(table, join(previous!.folder, old.path), join(building, folder))
        : yield* writeParquet(table, join(building, folder), stored.get(path)!.columns, rows)
    ])
  }
  const base = join(building, "parquet", wide.table, parquetName)
  return below(folder, [yield* Effect.scoped(writeWideParquet({ ...table, wide }, base, join(building, folder)))])
})

export const putCsv = Effect.fnUntraced(function* (
  table: TableChange,
  profile: "machine" | "spreadsheet",
  { building, previous, stored, small }: Making
): Effect.fn.Return<ReadonlyArray<Put>, Failure, Warehouse> {
  const folder = join(building, "csv")
  yield* makeFolder(folder)
  const before = previous?.manifest.csvProfile === profile ? filesOf(previous, table, "csv") : []
  if (table.change === "none" && before.length > 0) return yield* linkAll(before, building, previous!)
  if (profile === "spreadsheet")
    return below("csv", yield* writeSpreadsheets(table, yield* partsOf(table, "crm"), folder))
  const [old] = before
  const isUpdatable =
    table.change === "some" && hasTextKey(table, stored.get(pathOf("crm", { name: table.resource }))!.columns)
  const updated = old && isUpdatable ? { path: join(previous!.folder, old.path), rows: old.rows } : undefined
  if (table.wide) {
    const wide = { ...table, wide: table.wide }
    return below("csv", [yield* updated ? updateWideCsv(wide, updated, folder) : writeWideCsv(wide, folder)])
  }
  const path = pathOf("crm", table)
  const { columns } = stored.get(path)!
  const rows = small.get(path)
  const written = rows
    ? writeRows(table, columns, rows, folder)
    : updated
      ? updateCsv(table, columns, updated, folder)
      : writeCsv(table, columns, folder)
  return below("csv", [yield* written])
})

export interface PutSnapshot {
  /** The size of the file when it was last written anew; absent if it is written anew now. */
  readonly fullBytes?: number
  /** Empty if the file is written anew. */
  readonly old: OldContents
}

export const putSnapshot = Effect.fnUntraced(function* (
  tables: ReadonlyArray<TableChange>,
  statements: SnapshotStatements,
  definitions: string,
  { building, previous, stored }: Omit<Making, "small">
): Effect.fn.Return<PutSnapshot, Failure, Warehouse> {
  const path = join(building, snapshotName)
  if (!previous || !isUpdatable(previous.manifest, tables, definitions)) {
    yield* writeSnapshot(path, tables, statements, stored)
    return { old: new Map() }
  }
  // A copy, because a reader may have locked the file.
  const from = join(previous.folder, snapshotName)
  yield* onDisk(path, "written", () => copyFile(from, path, constants.COPYFILE_FICLONE))
  const old = yield* updateSnapshot(path, tables, previous.manifest.tables, stored)
  return { fullBytes: previous.manifest.state.fullBytes, old }
})

const isUpdatable = (
  { files, state, tables: contents }: Manifest,
  tables: ReadonlyArray<TableChange>,
  definitions: string
): boolean => {
  const old = files.find((one) => one.path === snapshotName)
  const replaced = new Set(tables.filter(({ change }) => change === "all").map((table) => table.name))
  const rowsOf = (some: ReadonlyArray<TableContent>) => some.reduce((sum, { rows }) => sum + rows, 0)
  const replacedRows = rowsOf(contents.filter(({ table }) => replaced.has(table)))
  return (
    old !== undefined &&
    state.definitions === definitions &&
    replacedRows <= rowsOf(contents) * replacedShareMax &&
    old.bytes <= state.fullBytes * growthMax
  )
}

/** DuckDB does not shrink a file: rows that are replaced leave gaps. */
const growthMax = 1.3
const replacedShareMax = 0.2

export const filesOf = (previous: PreviousRelease | undefined, { name }: { readonly name: string }, format: string) =>
  previous?.manifest.files.filter(({ table, path }) => table === name && path.startsWith(`${format}/`)) ?? []

/** Where links are refused, the files are copied. */
export const linkAll = (files: ReadonlyArray<PublishedFile>, building: string, { folder }: PreviousRelease) =>
  Effect.forEach(files, (file): Effect.Effect<Put, Failure> => {
    const [from, to] = [join(folder, file.path), join(building, file.path)]
    return onDisk(to, "written", async () => {
      try {
        await link(from, to)
        return file
      } catch {
        await copyFile(from, to, constants.COPYFILE_FICLONE)
        return { path: file.path, table: file.table, rows: file.rows }
      }
    })
  })

export const below = (folder: string, files: ReadonlyArray<Written>): ReadonlyArray<Written> =>
  files.map((file) => ({ ...file, path: join(folder, file.path) }))

export const makeFolder = (path: string) => onDisk(path, "created", () => mkdir(path, { recursive: true, mode: 0o700 }))
