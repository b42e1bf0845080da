/** Copies a CSV file without the rows of changed records, which is much faster than writing all rows again. */
import { type FileHandle, open } from "node:fs/promises"
import { keySeparator } from "../catalog/tables.ts"

export interface Removal {
  readonly from: string
  readonly to: string
  /** Positions of the columns whose texts, joined by `keySeparator`, are the key of a record. */
  readonly keyColumns: ReadonlyArray<number>
  readonly keys: ReadonlySet<string>
}

/** The first line, the header, always stays. Returns the number of removed rows. */
export const copyWithout = async ({ from, to, keyColumns, keys }: Removal): Promise<number> => {
  await using source = await open(from, "r")
  await using target = await open(to, "wx", 0o600)
  let buffer = Buffer.allocUnsafeSlow(chunkBytes)
  let removed = 0
  let isHeader = true
  /** Bytes at the beginning of the buffer that belong to an incomplete line. */
  let rest = 0
  for (;;) {
    // A line that is longer than the buffer.
    if (rest === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
    const { bytesRead } = await source.read(buffer, rest, buffer.length - rest)
    const end = rest + bytesRead
    let line = 0
    let keptFrom = 0
    let isQuoted = false
    for (let at = 0; at < end; at++) {
      const byte = buffer[at]!
      if (byte === quote) isQuoted = !isQuoted
      else if (byte === lineFeed && !isQuoted) {
        if (!isHeader && keys.has(keyOf(buffer.subarray(line, at + 1), keyColumns))) {
          await writeAll(target, buffer.subarray(keptFrom, line))
          keptFrom = at + 1
          removed++
        }
        isHeader = false
        line = at + 1
      }
    }
    await writeAll(target, buffer.subarray(keptFrom, Math.max(line, keptFrom)))
    if (bytesRead === 0) return removed
    buffer.copyWithin(0, line, end)
    rest = end - line
  }
}

const chunkBytes = 256 * 1024
const [quote, comma, lineFeed, carriageReturn] = [0x22, 0x2c, 0x0a, 0x0d]

const writeAll = async (file: FileHandle, bytes: Buffer): Promise<void> => {
  for (let written = 0; written < bytes.length;)
    written += (await file.write(bytes, written, bytes.length - written)).bytesWritten
}

/** The key of a line, which ends with its line end. */
const keyOf = (line: Buffer, columns: ReadonlyArray<number>): string => {
  const cells: Array<string> = []
  const last = Math.max(...columns)
  let start = 0
  let isQuoted = false
  for (let at = 0; cells.length <= last && at < line.length; at++) {
    const byte = line[at]!
    if (byte === quote) isQuoted = !isQuoted
    else if ((byte === comma || byte === carriageReturn) && !isQuoted) {
      cells.push(textOf(line.toString("utf8", start, at)))
      start = at + 1
    }
  }
  return columns.map((column) => cells[column]).join(keySeparator)
}

const textOf = (cell: string): string => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
