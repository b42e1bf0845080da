/** Puts the files of one table, or the DuckDB file, into a new release: linked, updated or written anew. */
import { Limits } from "../../values/limits.ts"
import { Effect } from "effect"
import { constants } from "node:fs"
import { copyFile, link, mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { PublishedTable } from "../../catalog/published-tables.ts"
import type { Failure } from "../../values/failure.ts"
import { onDisk } from "../../output/files.ts"
import { snapshotName } from "../../output/paths.ts"
import type { Warehouse } from "../../stores/warehouse/warehouse.ts"
import type { Earlier, Format, Rows, Written } from "../../stores/formats/format.ts"
import type { FormatName } from "../../stores/formats/formats.ts"
import { changedRows, isChanged } from "../../stores/warehouse/meta/content-versions.ts"
import type { StoredTables } from "../../stores/warehouse/columns.ts"
import type { RowTexts } from "../../stores/warehouse/content.ts"
import { name } from "../../stores/warehouse/sql.ts"
import { metadataOf } from "../../stores/formats/metadata.ts"
import type { Change, TableChange, TableName } from "./changes.ts"
import type { PublishedFile, TableContent } from "../../output/manifest.ts"
import type { WholeManifest, PreviousRelease } from "./manifest.ts"
import type { Making } from "./release.ts"
import { type SnapshotStatements, copyOf, pathOf, updateSnapshot, writeSnapshot } from "./snapshot.ts"
import { hasTable } from "./wide-tables.ts"

/** A file with its checksum is a link to one of the previous release. */
export type Put = Written | PublishedFile

/** A format of files in a release. */
export interface ReleaseFormat {
  /** The name of its folder. */
  readonly name: FormatName
  readonly format: Format
}

/** How rows are put into a release. */
export interface Putting {
  /** In the folder of the format. */
  readonly folder: string
  readonly change: Change
  /** The file of the previous release. */
  readonly before: EarlierFile | undefined
  /** The table and the keys of its changed records, if its earlier file can be updated. */
  readonly update?: Pick<Earlier, "table" | "keys"> | undefined
}

export const putRows = Effect.fnUntraced(function* (
  rows: () => Rows,
  format: Format,
  { before, change, folder, update }: Putting,
  building: string
) {
  if (change === "none" && before) return yield* linkEarlier(before, building)
  const found = rows()
  const path = join(folder, format.fileOf(found.name))
  const target = join(building, path)
  yield* makeFolder(dirname(target))
  const updated =
    change === "some" && update && before && format.update
      ? yield* format.update(found, { ...update, ...before, changed: changedOf(found, update.table) }, target)
      : undefined
  return { path, table: found.name, rows: updated ?? (yield* format.write(found, target)) }
})

/** FROM clause of the rows of changed records, of a wide view or of a table. */
export const changedOf = ({ from, name: shown, wide }: Rows, table: PublishedTable): string =>
  wide && from === pathOf("crm", { name: shown })
    ? `(${wide.among("crm", `(SELECT id FROM crm.${name(wide.table)} WHERE ${isChanged(table)})`)})`
    : changedRows(from, table)

/** The rows of a table or wide view. `hasWide`: the DuckDB file is attached, and its wide tables need not be gathered again. */
export const rowsOfTable = (table: TableName, stored: StoredTables, texts?: RowTexts, hasWide = false): Rows => {
  const path = pathOf("crm", table)
  const { columns, rows } = stored.of(path)
  return {
    name: table.name,
    from: hasWide && hasTable(table) ? copyOf(path) : path,
    columns,
    metadata: metadataOf(table),
    wide: table.wide,
    texts,
    isEmpty: rows === 0 && !table.wide
  }
}

export interface PutSnapshot {
  /** The size of the file when it was last written anew; absent if it is written anew now. */
  readonly fullBytes?: number
  /** Puts the rows into the file when it is attached. */
  readonly fill: Effect.Effect<void, Failure, Warehouse>
}

/** The DuckDB file, of which the rows are not yet those of the release. */
export const putSnapshot = Effect.fnUntraced(function* (
  tables: ReadonlyArray<TableChange>,
  statements: SnapshotStatements,
  definitions: string,
  { building, previous, stored }: Making
): Effect.fn.Return<PutSnapshot, Failure, Warehouse> {
  const path = join(building, snapshotName)
  if (!previous || !isUpdatable(previous.manifest, tables, definitions, (yield* Limits).publish)) {
    return { fill: yield* writeSnapshot(path, tables, statements, stored) }
  }
  // A copy, because a reader may have locked the file.
  const from = join(previous.folder, snapshotName)
  yield* onDisk(path, "written", () => copyFile(from, path, constants.COPYFILE_FICLONE))
  const { state, tables: contents } = previous.manifest
  return { fullBytes: state.fullBytes, fill: updateSnapshot(tables, contents, stored) }
})

const isUpdatable = (
  { files, state, tables: contents }: WholeManifest,
  tables: ReadonlyArray<TableChange>,
  definitions: string,
  limits: Limits["publish"]
): boolean => {
  const old = files.find((one) => one.path === snapshotName)
  const replaced = new Set(tables.filter(({ change }) => change === "all").map((table) => table.name))
  const rowsOf = (some: ReadonlyArray<TableContent>) => some.reduce((sum, { rows }) => sum + rows, 0)
  const replacedRows = rowsOf(contents.filter(({ table }) => replaced.has(table)))
  return (
    old !== undefined &&
    state.definitions === definitions &&
    !limits.replacedShare.isExceededBy(replacedRows / Math.max(1, rowsOf(contents))) &&
    !limits.growth.isExceededBy(old.bytes / state.fullBytes)
  )
}

/** The file of the previous release of a table or model, by format, with its path in that release. */
export const earlierFiles = (previous: PreviousRelease | undefined) => (format: string, table: string) => {
  const isIts = (one: PublishedFile) => one.table === table && one.path.startsWith(`${format}/`)
  const file = previous?.manifest.files.find(isIts)
  return file && previous && { file, rows: file.rows, path: join(previous.folder, file.path) }
}
type EarlierFile = NonNullable<ReturnType<ReturnType<typeof earlierFiles>>>

/** Where links are refused, the file is copied. */
export const linkEarlier = Effect.fnUntraced(function* ({ file, path: from }: EarlierFile, building: string) {
  const to = join(building, file.path)
  yield* makeFolder(dirname(to))
  return yield* onDisk(to, "written", async (): Promise<Put> => {
    try {
      await link(from, to)
      return file
    } catch {
      await copyFile(from, to, constants.COPYFILE_FICLONE)
      return { path: file.path, table: file.table, rows: file.rows }
    }
  })
})

const makeFolder = (path: string) => onDisk(path, "created", () => mkdir(path, { recursive: true, mode: 0o700 }))
