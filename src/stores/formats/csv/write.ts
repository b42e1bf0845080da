/** Writes CSV for programs; see format.ts. */
import { Effect } from "effect"
import { type FileHandle, open } from "node:fs/promises"
import type { PublishedTable } from "../../../catalog/published-tables.ts"
import { kindOf } from "../../../catalog/kinds.ts"
import { keySeparator } from "../../../catalog/tables.ts"
import { appendTo, onDisk, writeSmall } from "../../../output/files.ts"
import { type CsvRow, selectText } from "../../warehouse/columns.ts"
import type { StoredColumn } from "../../warehouse/content.ts"
import { queryNumber } from "../../warehouse/query.ts"
import { literal } from "../../warehouse/sql.ts"
import type { Earlier, Rows } from "../format.ts"

/** A cell that is not NULL, quoted as DuckDB does: also if it is empty, or has a `#`, which begins a comment for some readers. */
const csvCell = (text: string): string => (/^$|[",#\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** Writes the file `target`. Returns the number of rows. */
export const writeCsv = Effect.fnUntraced(function* (rows: Rows, target: string) {
  const { columns, from, isEmpty } = rows
  const texts = isEmpty ? [] : rows.texts?.get(from)
  if (texts === undefined) return yield* copyCsv(from, columns, target, true)
  return yield* Effect.as(writeSmall(target, headerOf(columns) + linesOf(texts, columns)), texts.length)
})

/** Writes the file `target`: that of the previous release without the rows of changed records, and their present rows. */
export const updateCsv = Effect.fnUntraced(function* (rows: Rows, earlier: Earlier, target: string) {
  const { changed, path: from, table } = earlier
  const texts = rows.texts?.get(changed)
  const after = texts ? linesOf(texts, rows.columns) : ""
  const keyColumns = table.recordKey.map((column) => rows.columns.findIndex((one) => one.name === column))
  const keys = yield* earlier.keys
  const removed = yield* onDisk(target, "written", () => copyWithout({ from, to: target, keyColumns, keys, after }))
  const kept = earlier.rows - removed
  if (texts) return kept + texts.length
  const added = yield* copyCsv(changed, rows.columns, `${target}.part`, false)
  yield* onDisk(target, "written", () => appendTo(target, `${target}.part`))
  return kept + added
})

/** Whether an earlier file can be updated: the text of keys of other types differs from that in the file. */
export const hasTextKey = ({ recordKey }: PublishedTable, columns: ReadonlyArray<StoredColumn>): boolean =>
  recordKey.every((column) => /^(VARCHAR|BIGINT)$/.test(columns.find((one) => one.name === column)?.type ?? "VARCHAR"))

/** DuckDB itself writes the rows, ten times faster than this process would. Returns their number. */
export const copyCsv = (part: string, columns: ReadonlyArray<StoredColumn>, path: string, hasHeader: boolean) =>
  queryNumber(
    `COPY (${selectText(part, columns)}) TO ${literal(path)} (FORMAT csv, HEADER ${hasHeader}, DELIMITER ',', NEW_LINE '\\r\\n')`
  )

/** The same lines from texts as `textOf` in SQL makes them, which have all decimals. */
const linesOf = (texts: ReadonlyArray<CsvRow>, columns: ReadonlyArray<StoredColumn>): string => {
  const areDecimals = columns.map(({ type }) => kindOf(type) === "decimal" && !type.endsWith(",0)"))
  return machineText(
    texts.map((row) => row.map((text, at) => (areDecimals[at] ? (text?.replace(/\.?0+$/, "") ?? null) : text)))
  )
}

export const headerOf = (columns: ReadonlyArray<StoredColumn>): string =>
  machineText([columns.map((column) => column.name)])

export const machineText = (rows: ReadonlyArray<CsvRow>) =>
  rows.map((row) => `${row.map((cell) => (cell === null ? "" : csvCell(cell))).join(",")}\r\n`).join("")

interface Removal {
  readonly from: string
  readonly to: string
  /** Positions of the columns whose texts, joined by `keySeparator`, are the key of a record. */
  readonly keyColumns: ReadonlyArray<number>
  readonly keys: ReadonlySet<string>
  readonly after: string
}

/**
 * Copies a file without the rows of changed records, which is much faster than writing all rows again. The first line, the
 * header, always stays. `after` is the end of the copy. Returns the number of removed rows.
 */
const copyWithout = async ({ from, to, keyColumns, keys, after }: Removal): Promise<number> => {
  await using source = await open(from, "r")
  await using target = await open(to, "wx", 0o600)
  const file = new BufferedFile(target)
  let removed = 0
  let isHeader = true
  for await (const { bytes, ends } of linesIn(source)) {
    let [begin, keptFrom] = [0, 0]
    for (const end of ends) {
      if (!isHeader && keys.has(keyOf(bytes, begin, end, keyColumns))) {
        await file.append(bytes.subarray(keptFrom, begin))
        keptFrom = end
        removed++
      }
      isHeader = false
      begin = end
    }
    await file.append(bytes.subarray(keptFrom, begin))
  }
  await file.append(Buffer.from(after))
  await file.flush()
  return removed
}

/** The key of the line from `start` to `end`. */
const keyOf = (bytes: Buffer, start: number, end: number, columns: ReadonlyArray<number>): string => {
  const cells: Array<string> = []
  const last = Math.max(...columns)
  let isQuoted = false
  for (let at = start; cells.length <= last && at < end; at++) {
    const byte = bytes[at]!
    if (byte === quote) isQuoted = !isQuoted
    else if ((byte === comma || byte === carriageReturn) && !isQuoted) {
      cells.push(bytes.toString("utf8", start, at))
      start = at + 1
    }
  }
  // As the key in the warehouse, it has nothing for NULL.
  return columns.flatMap((column) => (cells[column] ? textOf(cells[column]) : [])).join(keySeparator)
}

const textOf = (cell: string): string => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)

/** Lines of a CSV file, as bytes: a line end inside quotes does not end a line. */
export const [quote, comma, lineFeed, carriageReturn] = [0x22, 0x2c, 0x0a, 0x0d]
const chunkBytes = 256 * 1024

/** Some lines of a file, one after the other. */
interface Lines {
  readonly bytes: Buffer
  /** Where each line ends, with its line end; the first begins at 0. */
  readonly ends: ReadonlyArray<number>
}

/** The lines are valid until the next ones are read. */
export async function* linesIn(file: FileHandle): AsyncGenerator<Lines> {
  let buffer = Buffer.allocUnsafeSlow(chunkBytes)
  /** Bytes at the beginning of the buffer that belong to an incomplete line. */
  let rest = 0
  for (;;) {
    // A line that is longer than the buffer.
    if (rest === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
    const { bytesRead } = await file.read(buffer, rest, buffer.length - rest)
    if (bytesRead === 0) return
    const size = rest + bytesRead
    const ends: Array<number> = []
    let isQuoted = false
    for (let at = 0; at < size; at++) {
      const byte = buffer[at]!
      if (byte === quote) isQuoted = !isQuoted
      else if (byte === lineFeed && !isQuoted) ends.push(at + 1)
    }
    const end = ends.at(-1) ?? 0
    if (end > 0) yield { bytes: buffer, ends }
    buffer.copyWithin(0, end, size)
    rest = size - end
  }
}

/** Collects bytes and writes many at a time. */
class BufferedFile {
  private readonly file: FileHandle
  private readonly buffer = Buffer.allocUnsafeSlow(chunkBytes)
  private used = 0

  constructor(file: FileHandle) {
    this.file = file
  }

  /** The bytes may be changed after the call. */
  async append(bytes: Buffer): Promise<void> {
    if (this.used + bytes.length > chunkBytes) await this.flush()
    if (bytes.length > chunkBytes) return this.write(bytes)
    this.used += bytes.copy(this.buffer, this.used)
  }

  async flush(): Promise<void> {
    await this.write(this.buffer.subarray(0, this.used))
    this.used = 0
  }

  private async write(bytes: Buffer): Promise<void> {
    for (let written = 0; written < bytes.length;)
      written += (await this.file.write(bytes, written, bytes.length - written)).bytesWritten
  }
}
