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
import { literal } from "../warehouse/sql.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { type CsvRow, columnsOf, selectText } from "./columns.ts"
import { type TableName, partsOf } from "./chunks.ts"
import { snapshotSchema } from "./snapshot.ts"
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

/** DuckDB itself writes the rows of the snapshot, ten times faster than this process would. */
export const copyCsv = Effect.fnUntraced(function* (table: TableName, folder: string) {
  const warehouse = yield* Warehouse
  const file = `${table.name}.csv`
  const parts = yield* partsOf(table, snapshotSchema)
  const columns = yield* columnsOf(parts[0]!)
  let rows = 0
  for (const [index, part] of parts.entries()) {
    const path = join(folder, index === 0 ? file : `${file}.part`)
    const [copied] = yield* warehouse.rows(
      `COPY (${selectText(part, columns)}) TO ${literal(path)} (FORMAT csv, HEADER ${index === 0}, DELIMITER ',', NEW_LINE '\\r\\n')`
    )
    rows += Number(copied?.["Count"])
    if (index > 0) yield* onDisk(join(folder, file), "written", () => appendTo(join(folder, file), path))
  }
  return { file, rows }
})

const appendTo = async (file: string, part: string): Promise<void> => {
  await pipeline(createReadStream(part), createWriteStream(file, { flags: "a" }))
  await rm(part)
}

/** Quotes the same texts as DuckDB: also empty ones, and those with `#`, which begins a comment for some readers. */
const machineText = (rows: ReadonlyArray<CsvRow>) => stringify([...rows], { ...lines, quoted_match: /^$|#/ })
