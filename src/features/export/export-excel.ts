/** `sluice export excel`: writes chosen tables into one Excel workbook. */
import { Clock, Effect, Stream } from "effect"
import { existsSync, statSync } from "node:fs"
import { rename, rm } from "node:fs/promises"
import { basename, dirname, resolve } from "node:path"
import { itemAt } from "../../catalog/present.ts"
import type { Catalogue } from "../../catalog/discover.ts"
import { publishedTables } from "../../catalog/published-tables.ts"
import { firstWide, tablesOf, wideName } from "../../catalog/tables.ts"
import { fileFailure } from "../../values/failure.ts"
import { partsOf, rowsOf } from "../../stores/warehouse/parts.ts"
import { columnsOf } from "../../stores/warehouse/columns.ts"
import type { Flags } from "../../settings/read.ts"
import { outputSettings } from "../../settings/settings.ts"
import { counted } from "../../values/finding.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { wideViews } from "../../stores/warehouse/wide-views.ts"
import { cellOf } from "../../stores/formats/xlsx/cells.ts"
import { type Unwritten, type WorkbookTable, writeWorkbook } from "../../stores/formats/xlsx/workbook.ts"
import { loadCatalogue } from "../../command/catalogue.ts"
import { chosenTables } from "./chosen-tables.ts"
import { Environment } from "../../values/environment.ts"
import { usageError } from "../../console/errors.ts"
import { openReadable, sayHolder } from "../../command/readable.ts"
import { type Recorded, record } from "../../command/recorded.ts"
import { instant, shown, warning } from "../../console/result.ts"
import { type ChoiceFlags, choiceOf } from "../../command/selection.ts"
import { onDisk } from "../../output/files.ts"

/** If another program has the warehouse open, the rows are those of the last release, as a message says. */
export const exportExcel = Effect.fn("command.exportExcel")(function* (
  flags: Flags & ChoiceFlags & { readonly file: string; readonly deleted: boolean }
) {
  const output = yield* outputSettings(flags, yield* Environment)
  const path = yield* fileOf(flags.file)
  const catalogue = yield* loadCatalogue(output)
  const names = yield* sheetTables(catalogue, yield* choiceOf(flags))
  const readable = yield* openReadable(output)
  if (readable.source === "none") return yield* readable.locked
  const now = yield* Clock.currentTimeMillis
  yield* sayHolder(readable, now)
  const contents = yield* Effect.gen(function* () {
    const views = yield* wideViews(catalogue)
    // Each object has a wide table, and what the first one of a resource has no room for is in the next ones.
    const wide = Map.groupBy(
      views.map(({ view }) => view),
      firstWide
    )
    const tables = yield* Effect.forEach(
      names.flatMap((name) => wide.get(name) ?? [name]),
      (name) => tableOf(catalogue, views, name, flags.deleted)
    )
    const about = aboutLines(instant(now), flags.deleted)
    return yield* writeFile(
      path,
      (part) => writeWorkbook(part, { about, tables }),
      ({ rows }) => record(output.folder, "export", { what: "excel", file: basename(path), rows })
    )
  }).pipe(Effect.provide(readable.tables))
  const next = `open ${path}; its first sheet lists the others.`
  return shown("export-excel", { exitCode: 0, next, data: { file: path, ...contents } }, function* () {
    yield `${counted(contents.rows, "row")} of ${counted(names.length, "table")} in ${path}`
    if (contents.cut > 0)
      yield warning(`${counted(contents.cut, "value")} longer than a cell: cut, and listed on the first sheet.`)
  })
}, Effect.scoped)

const fileOf = (file: string) => {
  const path = resolve(file)
  const problem = !file.toLowerCase().endsWith(".xlsx")
    ? "the name of a workbook ends in .xlsx"
    : !existsSync(dirname(path))
      ? `there is no folder ${dirname(path)}`
      : statSync(path, { throwIfNoEntry: false })?.isDirectory()
        ? "it is a folder"
        : undefined
  return problem === undefined
    ? Effect.succeed(path)
    : usageError(`${file}: ${problem}.`, "./sluice export excel contacts.xlsx --only contacts")
}

/** Wide views repeat the rows of their table, so a family does not include them. */
const sheetTables = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  choice: Effect.Success<ReturnType<typeof choiceOf>>
) {
  if (choice.only.length === 0)
    return yield* usageError(
      "Name the tables of the workbook with --only: each becomes a sheet.",
      "./sluice dictionary lists the tables."
    )
  const tables = publishedTables(catalogue).map(({ name }) => name)
  return yield* chosenTables({ tables, familyByTable: catalogue.familyByTable }, choice)
})

/** Internal to sluice: of no use in a spreadsheet. */
const internalColumns: ReadonlySet<string> = new Set(["_row_hash", "_run_id"])

const tableOf = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  views: Effect.Success<ReturnType<typeof wideViews>>,
  name: string,
  withDeleted: boolean
) {
  const warehouse = yield* Warehouse
  const wide = views.find(({ view }) => view === name)
  const all = yield* partsOf({ name, wide }, "crm")
  const existing = yield* columnsOf(itemAt(all, 0))
  const hidesDeleted = !withDeleted && existing.some((column) => column.name === "_deleted_at")
  const columns = existing.filter(
    (column) => !internalColumns.has(column.name) && !(hidesDeleted && column.name === "_deleted_at")
  )
  const parts = hidesDeleted ? all.map((part) => `(FROM ${part} WHERE _deleted_at IS NULL)`) : all
  const rows = Stream.provideService(rowsOf(parts, columns), Warehouse, warehouse)
  return {
    name,
    description: descriptionOf(catalogue, name),
    columns: columns.map((column) => ({ name: column.name, kind: cellOf(column.type) })),
    rows: Stream.toAsyncIterable(rows)
  } satisfies WorkbookTable
})

const descriptionOf = ({ resources }: Catalogue, name: string): string => {
  const table = resources.flatMap(tablesOf).find((one) => one.name === name)
  const wide = resources.find((resource) => wideName(resource) === firstWide(name))
  return table?.description ?? `${wide?.description} With a column for each custom field.`
}

const aboutLines = (now: string, withDeleted: boolean): ReadonlyArray<string> => [
  `Exported by sluice at ${now}.`,
  "Timestamps are in UTC. Days without a time have no time zone.",
  "Amounts are in the currency of the column beside them, if the table has one.",
  "Numbers of more than 15 digits, ids and phone numbers are texts, because Excel would change them. No text is a formula.",
  withDeleted ? "Deleted rows have the time of their deletion in _deleted_at." : "Deleted rows are left out.",
  "The rows are personal data."
]

/** Replaces the file only by a complete one. */
const writeFile = <A, R>(
  path: string,
  write: (part: string) => Effect.Effect<A, Unwritten, R>,
  recorded: (written: A) => Recorded
) => {
  const part = `${path}.part`
  return write(part).pipe(
    Effect.mapError(({ cause }) => fileFailure(path, "written", cause)),
    // Nobody gets a workbook of which the ledger knows nothing.
    Effect.tap(recorded),
    Effect.tap(() => onDisk(path, "replaced", () => rename(part, path))),
    Effect.onError(() => Effect.ignore(onDisk(part, "removed", () => rm(part, { force: true }))))
  )
}
