/**
 * `<table>.csv` for spreadsheets, further files `<table>-2.csv` when a sheet is full, and `<table>.escaped.csv`, which lists
 * every cell that differs from the data, so that no cell is altered silently.
 */
import { Effect, Stream } from "effect"
import { type FileHandle, open } from "node:fs/promises"
import { join } from "node:path"
import { onDisk } from "../../../output/files.ts"
import { type CsvRow, columnsOf } from "../../warehouse/columns.ts"
import { rowsOf } from "../../warehouse/parts.ts"
import type { Rows, Written } from "../format.ts"
import { byteOrderMark, safeRow, safeText, spreadsheetLimits, spreadsheetText } from "./cells.ts"

/** `parts`: relations with the rows. The warehouse and every other format have the original of an altered cell. */
export const writeSpreadsheets = Effect.fnUntraced(function* (
  table: Pick<Rows, "name" | "key">,
  parts: ReadonlyArray<string>,
  folder: string,
  limits: { readonly lines: number; readonly characters: number } = spreadsheetLimits
) {
  const columns = yield* columnsOf(parts[0]!)
  const names = columns.map((column) => column.name)
  const keyIndexes = table.key.map((column) => names.indexOf(column))
  const spreadsheets = yield* openSpreadsheets(folder, (part) => `${table.name}${part}.csv`, names, limits.lines)
  const escaped = yield* openSpreadsheets(
    folder,
    (part) => `${table.name}${part}.escaped.csv`,
    ["file", "row", ...table.key, "column", "change", "characters"],
    limits.lines
  )
  yield* spreadsheets.write([])
  yield* Stream.runForEachArray(rowsOf(parts, columns), (some) => {
    const safe = some.map((row) => safeRow(columns, row, limits.characters))
    const alterations = safe.flatMap(({ altered }, index) => {
      const { file, row } = spreadsheets.place(index)
      const key = keyIndexes.map((at) => safeText(some[index]![at] ?? ""))
      return altered.map((one) => [file, String(row), ...key, one.column, one.change, String(one.characters)])
    })
    return spreadsheets
      .write(safe.map(({ cells }) => cells))
      .pipe(Effect.andThen(alterations.length > 0 ? escaped.write(alterations) : Effect.void))
  })
  return [...spreadsheets.written(), ...escaped.written()].map(({ file, rows }): Written => ({
    path: file,
    table: table.name,
    rows
  }))
}, Effect.scoped)

const openSpreadsheets = Effect.fnUntraced(function* (
  folder: string,
  fileOf: (part: string) => string,
  header: CsvRow,
  linesMax: number
) {
  const rowsMax = linesMax - 1
  const files: Array<{ readonly file: string; rows: number; readonly handle: FileHandle }> = []
  let total = 0
  yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(files.map(({ handle }) => handle.close()))))

  /** The position of a row that is written `ahead` rows from now; the header is row 1. */
  const place = (ahead: number) => {
    const part = Math.floor((total + ahead) / rowsMax)
    return { part, file: fileOf(part === 0 ? "" : `-${part + 1}`), row: ((total + ahead) % rowsMax) + 2 }
  }
  const writeAll = async (rows: ReadonlyArray<CsvRow>) => {
    for (let from = 0; from < rows.length || files.length === 0;) {
      const { part, file, row } = place(0)
      if (files.length === part) {
        files.push({ file, rows: 0, handle: await open(join(folder, file), "wx", 0o600) })
        await files[part]!.handle.appendFile(byteOrderMark + spreadsheetText([header]))
      }
      const some = rows.slice(from, from + rowsMax + 2 - row)
      await files[part]!.handle.appendFile(spreadsheetText(some))
      files[part]!.rows += some.length
      total += some.length
      from += some.length
    }
  }
  return {
    /** Creates the first file even without rows, so that it has a header. */
    write: (rows: ReadonlyArray<CsvRow>) =>
      onDisk(join(folder, fileOf("")), "written", () => writeAll(rows)).pipe(Effect.uninterruptible),
    place,
    written: () => files.map(({ file, rows }) => ({ file, rows }))
  }
})
