/**
 * CSV for programs: RFC 4180, hence CRLF (line ends inside a cell are unchanged), UTF-8 without BOM, a header, timestamps in
 * ISO 8601 UTC, decimals without zeros at their end, NULL as an empty cell and an empty text as `""`. A file and a pipe receive
 * the same bytes.
 */
import { Effect, Stream } from "effect"
import { join } from "node:path"
import { rowsOf } from "../../warehouse/parts.ts"
import { type Format, oneFile } from "../format.ts"
import { csvReading } from "./reading.ts"
import { updateWideCsv, writeWideCsv } from "./wide-csv.ts"
import { hasTextKey, headerOf, machineText, updateCsv, writeCsv } from "./write.ts"

const fileOf = (name: string) => `${name}.csv`

export const format: Format = {
  fileOf,
  write: (rows, folder) => {
    const [path, { name, wide }] = [fileOf(rows.name), rows]
    const target = join(folder, path)
    return Effect.map(wide ? writeWideCsv({ ...rows, wide }, target) : writeCsv(rows, target), oneFile(path, name))
  },
  update: (rows, earlier, folder) => {
    if (!hasTextKey(earlier.table, rows.columns)) return Effect.undefined
    const [path, { name, wide }] = [fileOf(rows.name), rows]
    const target = join(folder, path)
    const updated = wide ? updateWideCsv({ ...rows, wide }, earlier, target) : updateCsv(rows, earlier, target)
    return Effect.map(updated, oneFile(path, name))
  },
  text: (parts, columns) =>
    Stream.concat(
      Stream.succeed(headerOf(columns)),
      Stream.mapArray(rowsOf(parts, columns), (some) => [machineText(some)])
    ),
  reading: csvReading
}
