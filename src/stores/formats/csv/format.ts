/**
 * CSV for programs: RFC 4180, hence CRLF (line ends inside a cell are unchanged), UTF-8 without BOM, a header, timestamps in
 * ISO 8601 UTC, decimals without zeros at their end, NULL as an empty cell and an empty text as `""`. A file and a pipe receive
 * the same bytes, and of a wide view the same lines.
 */
import { Effect } from "effect"
import type { Format, Reading } from "../format.ts"
import { copyCsv, hasTextKey, updateCsv, writeCsv } from "./write.ts"
import { open } from "node:fs/promises"
import { onDisk } from "../../../output/files.ts"
import { literal } from "../../warehouse/sql.ts"

/** Reads CSV files back. NULL is an empty cell, an empty text is quoted. */
export const csvReading: Reading = {
  from: (paths, columns) =>
    `read_csv([${paths.map(literal).join(", ")}], auto_detect = false, header = true, delim = ',', quote = '"', escape = '"',
       nullstr = '', allow_quoted_nulls = false, parallel = false, max_line_size = ${lineBytesMax}, buffer_size = ${lineBytesMax},
       columns = {${columns.map((column) => `${literal(column)}: 'VARCHAR'`).join(", ")}})`,
  areTexts: true,
  // DuckDB accepts any line as the header.
  problem: (path, columns) =>
    onDisk(path, "read", async () => {
      const header = `${columns.join(",")}\r\n`
      await using file = await open(path)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(header.length + 3), 0, header.length + 3, 0)
      const beginning = buffer.toString("utf8", 0, bytesRead).replace(/^\uFEFF/, "")
      return beginning.startsWith(header) ? undefined : "its header does not name the columns"
    })
}

/** A row has at most 4 MB of JSON; CSV doubles its quotes. */
const lineBytesMax = 16 * 1024 * 1024

export const format: Format = {
  fileOf: (name) => `${name}.csv`,
  write: writeCsv,
  update: (rows, earlier, path) =>
    hasTextKey(earlier.table, rows.columns) ? updateCsv(rows, earlier, path) : Effect.undefined,
  writePart: copyCsv,
  reading: csvReading
}
