/**
 * CSV for spreadsheets: `<table>.csv`, further files `<table>-2.csv` when a sheet is full, and `<table>.escaped.csv`, which lists
 * every cell that differs from the data, so that no cell is altered silently.
 */
import { Effect, Stream } from "effect"
import { partsOf, rowsOf } from "../../warehouse/parts.ts"
import { csvReading } from "../csv/format.ts"
import type { Format } from "../format.ts"
import { byteOrderMark, safeRow, spreadsheetLimits, spreadsheetText } from "./cells.ts"
import { writeSpreadsheets } from "./files.ts"

export const format: Format = {
  fileOf: (name) => `${name}.csv`,
  write: (rows, folder) =>
    Effect.flatMap(rows.wide ? partsOf(rows, "crm") : Effect.succeed([rows.from]), (parts) =>
      writeSpreadsheets(rows, parts, folder)
    ),
  // A pipe cannot be split into sheets or list the altered cells, so it receives safe cells only.
  text: (parts, columns) =>
    Stream.concat(
      Stream.succeed(byteOrderMark + spreadsheetText([columns.map(({ name }) => name)])),
      Stream.mapArray(rowsOf(parts, columns), (some) => [
        spreadsheetText(some.map((row) => safeRow(columns, row, spreadsheetLimits.characters).cells))
      ])
    ),
  reading: { ...csvReading, altersTexts: true }
}
