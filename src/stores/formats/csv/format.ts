/**
 * CSV for programs: RFC 4180, hence CRLF (line ends inside a cell are unchanged), UTF-8 without BOM, a header, timestamps in
 * ISO 8601 UTC, decimals without zeros at their end, NULL as an empty cell and an empty text as `""`. A file and a pipe receive
 * the same bytes, and of a wide view the same lines.
 */
import { Effect, Stream } from "effect"
import { join } from "node:path"
import { rowsOf } from "../../warehouse/parts.ts"
import { joinedInOrder } from "../../warehouse/stored-order.ts"
import { type Format, oneFile } from "../format.ts"
import { csvReading } from "./reading.ts"
import { hasTextKey, headerOf, machineText, updateCsv, writeCsv } from "./write.ts"

const fileOf = (name: string) => `${name}.csv`

export const format: Format = {
  fileOf,
  write: (rows, folder) => {
    const path = fileOf(rows.name)
    const written = writeCsv(rows, join(folder, path))
    return Effect.map(rows.wide ? joinedInOrder(written) : written, oneFile(path, rows.name))
  },
  update: (rows, earlier, folder) => {
    if (!hasTextKey(earlier.table, rows.columns)) return Effect.undefined
    const path = fileOf(rows.name)
    const updated = updateCsv(rows, earlier, join(folder, path))
    return Effect.map(rows.wide ? joinedInOrder(updated) : updated, oneFile(path, rows.name))
  },
  text: (parts, columns) =>
    Stream.concat(
      Stream.succeed(headerOf(columns)),
      Stream.mapArray(rowsOf(parts, columns), (some) => [machineText(some)])
    ),
  reading: csvReading
}
