/** Puts the files of tables into a bundle: as published, or written by the code that publishes if the release lacks a format. */
import { Effect } from "effect"
import { constants } from "node:fs"
import { copyFile } from "node:fs/promises"
import { join } from "node:path"
import { failedError } from "../../../console/errors.ts"
import { TotalMap } from "../../../catalog/present.ts"
import type { PublishedTable } from "../../../catalog/published-tables.ts"
import { onDisk } from "../../../output/files.ts"
import { columnsOf } from "../../../stores/warehouse/columns.ts"
import type { Format } from "../../../stores/formats/format.ts"
import { loadFormat } from "../../../stores/formats/formats.ts"
import { rowsOfTable } from "../../../stages/publish/put.ts"
import { storedOrder } from "../../../stores/warehouse/parts.ts"
import { queryNumber } from "../../../stores/warehouse/query.ts"
import { name } from "../../../stores/warehouse/sql.ts"
import { type Building, type SealedFile, makeFolderOf, seal } from "./sealed-files.ts"
import type { Release } from "./source.ts"

export interface TableFile extends SealedFile {
  readonly table: string
  readonly rows: number
}

/** The `Warehouse` is the DuckDB file of the release. */
export const putTable = Effect.fn("bundle.putTable")(function* (
  release: Release,
  table: PublishedTable,
  building: Building
) {
  return [yield* putFormat(release, table, "csv", building), yield* putFormat(release, table, "parquet", building)]
})

const putFormat = Effect.fnUntraced(function* (
  release: Release,
  table: PublishedTable,
  format: "csv" | "parquet",
  building: Building
) {
  const { fileOf, write } = yield* loadFormat(format)
  const released = join(format, fileOf(table.name))
  const path = `data/${released}`
  const target = join(building.folder, path)
  yield* onDisk(target, "written", () => makeFolderOf(target))
  const published = release.files.find((file) => file.path === released)
  const isAsPublished = published !== undefined && (format === "parquet" || release.hasPlainCsv)
  if (!isAsPublished && release.snapshot === undefined) return yield* missingFormat(format)
  const rows = isAsPublished
    ? yield* onDisk(target, "written", async () => {
        await copyFile(join(release.folder, released), target, constants.COPYFILE_FICLONE)
        return published.rows
      })
    : yield* storedOrder(writeNew(table, write, target))
  const sealed = yield* onDisk(target, "written", () => seal(building, path)).pipe(Effect.uninterruptible)
  if (isAsPublished && sealed.sha256 !== published.sha256)
    return yield* failedError(
      `${released} of the release was changed after it was published: its SHA-256 differs from the manifest.`,
      "./sluice publish --full"
    )
  return { ...sealed, table: table.name, rows } satisfies TableFile
})

/** As the release would have written it. */
const writeNew = Effect.fnUntraced(function* (table: PublishedTable, write: Format["write"], target: string) {
  const path = `crm.${name(table.name)}`
  const columns = yield* columnsOf(path)
  const stored = new TotalMap([[path, { columns, rows: yield* queryNumber(`SELECT count(*) FROM ${path}`) }]])
  return yield* write(rowsOfTable(table, stored), target)
})

const missingFormat = (format: "csv" | "parquet") =>
  failedError(
    `The release has no ${format === "csv" ? "CSV" : "Parquet"} files, and no DuckDB file from which to write them.`,
    `Add "${format}" to output.formats in the settings file, then run ./sluice publish.`
  )
