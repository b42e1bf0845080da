/**
 * CSV for programs: RFC 4180, hence CRLF (line ends inside a cell are unchanged), UTF-8 without BOM, a header, timestamps in
 * ISO 8601 UTC, NULL as an empty cell and an empty text as `""`. A file and a pipe receive the same bytes.
 */
import { Effect } from "effect"
import { createReadStream, createWriteStream } from "node:fs"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { onDisk, writeSmall } from "../../output/files.ts"
import type { StoredColumn } from "../../stores/warehouse/content.ts"
import { literal, name } from "../../stores/warehouse/sql.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type TableName, changedKeys, changedRows } from "./changes.ts"
import { type CsvRow, selectText } from "./columns.ts"
import { copyWithout } from "./csv-delta.ts"
import type { Written } from "./manifest.ts"
import { byteOrderMark, safeRow, spreadsheetText, spreadsheetLimits } from "./spreadsheet.ts"

/**
 * Rows as CSV text, preceded by a header. A pipe cannot be split into sheets or list the altered cells: of the spreadsheet
 * profile, it only receives safe cells.
 */
export const csvText = (columns: ReadonlyArray<StoredColumn>, profile: "machine" | "spreadsheet") => {
  const { characters } = spreadsheetLimits
  const text = (rows: ReadonlyArray<CsvRow>) =>
    profile === "machine"
      ? machineText(rows)
      : spreadsheetText(rows.map((row) => safeRow(columns, row, characters).cells))
  const header = text([columns.map((column) => column.name)])
  return { header: profile === "machine" ? header : byteOrderMark + header, text }
}

/** A cell that is not NULL, quoted as DuckDB does: also if it is empty, or has a `#`, which begins a comment for some readers. */
export const csvCell = (text: string): string => (/^$|[",#\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** DuckDB itself writes the rows, ten times faster than this process would. */
export const writeCsv = Effect.fnUntraced(function* (
  table: TableName,
  columns: ReadonlyArray<StoredColumn>,
  folder: string
) {
  const path = `${table.name}.csv`
  const rows = yield* copyCsv(`crm.${name(table.name)}`, columns, join(folder, path), true)
  return { path, table: table.name, rows } satisfies Written
})

/** The file of a table with few rows, for which a statement would cost more than the file. */
export const writeRows = Effect.fnUntraced(function* (
  table: TableName,
  columns: ReadonlyArray<StoredColumn>,
  rows: ReadonlyArray<CsvRow>,
  folder: string
) {
  const path = `${table.name}.csv`
  const { header, text } = csvText(columns, "machine")
  yield* writeSmall(join(folder, path), header + text(rows))
  return { path, table: table.name, rows: rows.length } satisfies Written
})

/** Copies the file of the previous release without the rows of changed records, and appends their present rows. */
export const updateCsv = Effect.fnUntraced(function* (
  table: TableName,
  columns: ReadonlyArray<StoredColumn>,
  previous: Pick<Written, "path" | "rows">,
  folder: string
) {
  const path = `${table.name}.csv`
  const current = `crm.${name(table.name)}`
  const kept = yield* copyUnchanged(table, columns, previous, join(folder, path))
  const added = yield* copyCsv(changedRows(current, table), columns, join(folder, `${path}.part`), false)
  yield* onDisk(join(folder, path), "written", () => appendTo(join(folder, path), join(folder, `${path}.part`)))
  return { path, table: table.name, rows: kept + added } satisfies Written
})

/**
 * Whether the file of the previous release can be updated: the text of keys of other types differs from that in the file.
 * `columns`: those of the table of the resource.
 */
export const hasTextKey = ({ recordKey }: TableName, columns: ReadonlyArray<StoredColumn>): boolean =>
  recordKey.every((column) => (columns.find((one) => one.name === column)?.type ?? "VARCHAR") === "VARCHAR")

/** Copies a CSV file without the rows of changed records, and returns the number of its rows. */
export const copyUnchanged = Effect.fnUntraced(function* (
  table: TableName,
  columns: ReadonlyArray<StoredColumn>,
  previous: Pick<Written, "path" | "rows">,
  target: string
) {
  const keyColumns = table.recordKey.map((column) => columns.findIndex((one) => one.name === column))
  const keys = yield* changedKeys(table.resource)
  const removed = yield* onDisk(target, "written", () =>
    copyWithout({ from: previous.path, to: target, keyColumns, keys })
  )
  return previous.rows - removed
})

export const copyCsv = Effect.fnUntraced(function* (
  part: string,
  columns: ReadonlyArray<StoredColumn>,
  path: string,
  hasHeader: boolean
) {
  const [copied] = yield* (yield* Warehouse).rows(
    `COPY (${selectText(part, columns)}) TO ${literal(path)} (FORMAT csv, HEADER ${hasHeader}, DELIMITER ',', NEW_LINE '\\r\\n')`
  )
  return Number(copied?.["Count"])
})

export const appendTo = async (file: string, part: string): Promise<void> => {
  await pipeline(createReadStream(part), createWriteStream(file, { flags: "a" }))
  await rm(part)
}

const machineText = (rows: ReadonlyArray<CsvRow>) =>
  rows.map((row) => `${row.map((cell) => (cell === null ? "" : csvCell(cell))).join(",")}\r\n`).join("")
