/**
 * CSV for programs: RFC 4180, hence CRLF (line ends inside a cell are unchanged), UTF-8 without BOM, a header, timestamps in
 * ISO 8601 UTC, NULL as an empty cell and an empty text as `""`. A file and a pipe receive the same bytes.
 */
import { stringify } from "csv-stringify/sync"
import { Effect } from "effect"
import { createReadStream, createWriteStream } from "node:fs"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { onDisk } from "../io/files.ts"
import type { StoredColumn } from "../warehouse/content.ts"
import { literal, name } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { type TableName, changedKeys, isChanged } from "./changes.ts"
import { type CsvRow, columnsOf, selectText } from "./columns.ts"
import { copyWithout } from "./csv-delta.ts"
import type { Written } from "./manifest.ts"
import { byteOrderMark, lines, safeRow, spreadsheetText, spreadsheetLimits } from "./spreadsheet.ts"

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

/** A cell that is not NULL, quoted as DuckDB does. */
export const csvCell = (text: string): string => (/^$|[",#\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** DuckDB itself writes the rows, ten times faster than this process would. */
export const writeCsv = Effect.fnUntraced(function* (table: TableName, folder: string) {
  const path = `${table.name}.csv`
  const from = `crm.${name(table.name)}`
  const rows = yield* copyCsv(from, yield* columnsOf(from), join(folder, path), true)
  return { path, table: table.name, rows } satisfies Written
})

/** Copies the file of the previous release without the rows of changed records, and appends their present rows. */
export const updateCsv = Effect.fnUntraced(function* (
  table: TableName,
  previous: { readonly path: string; readonly rows: number },
  folder: string
) {
  const current = `crm.${name(table.name)}`
  const columns = yield* columnsOf(current)
  const key = ["location_id", ...table.recordKey].map((column) => columns.findIndex((one) => one.name === column))
  // The text of other types in a key differs from that in the file.
  if (key.some((index) => columns[index]!.type !== "VARCHAR")) return yield* writeCsv(table, folder)
  const path = `${table.name}.csv`
  const keys = yield* changedKeys(table.resource)
  const removed = yield* onDisk(join(folder, path), "written", () =>
    copyWithout({ from: previous.path, to: join(folder, path), keyColumns: key, keys })
  )
  const added = yield* appendCsv(`(FROM ${current} WHERE ${isChanged(table)})`, columns, join(folder, path))
  return { path, table: table.name, rows: previous.rows - removed + added } satisfies Written
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

const appendCsv = Effect.fnUntraced(function* (part: string, columns: ReadonlyArray<StoredColumn>, file: string) {
  const rows = yield* copyCsv(part, columns, `${file}.part`, false)
  yield* onDisk(file, "written", () => appendTo(file, `${file}.part`))
  return rows
})

const appendTo = async (file: string, part: string): Promise<void> => {
  await pipeline(createReadStream(part), createWriteStream(file, { flags: "a" }))
  await rm(part)
}

/** Quotes the same texts as DuckDB: also empty ones, and those with `#`, which begins a comment for some readers. */
const machineText = (rows: ReadonlyArray<CsvRow>) => stringify([...rows], { ...lines, quoted_match: /^$|#/ })
