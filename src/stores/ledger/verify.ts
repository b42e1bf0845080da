/** Walks the chain of a ledger and names the first record that does not continue the one before it. */
import { createReadStream } from "node:fs"
import { type Head, type LedgerRecord, emptyHead, recordOf, sha256Of } from "./record.ts"
import { codeOf } from "../../values/thrown.ts"

export interface LedgerCheck {
  /** The end of the part that is intact. */
  readonly head: Head
  readonly records: ReadonlyArray<LedgerRecord>
  /** The SHA-256 of each record. */
  readonly hashes: ReadonlyArray<string>
  /** The first problem, with the number of its line. */
  readonly problem?: { readonly line: number; readonly what: string }
}

/** An absent ledger is intact and empty. */
export const checkLedger = async (path: string): Promise<LedgerCheck> => checkLines(await linesOf(path))

interface Line {
  readonly record: LedgerRecord | undefined
  readonly sha256: string
  readonly isWhole: boolean
}

export const checkLines = (lines: ReadonlyArray<Line>): LedgerCheck => {
  const records: Array<LedgerRecord> = []
  const hashes: Array<string> = []
  let head = emptyHead
  for (const [index, line] of lines.entries()) {
    const found = recordAfter(head, line, lines, index)
    if (typeof found === "string") return { head, records, hashes, problem: { line: index + 1, what: found } }
    records.push(found)
    hashes.push(line.sha256)
    head = { seq: found.seq, sha256: line.sha256 }
  }
  return { head, records, hashes }
}

/** The record of a line, or why it does not continue the chain. */
const recordAfter = (head: Head, line: Line, lines: ReadonlyArray<Line>, index: number): LedgerRecord | string => {
  const { record, isWhole } = line
  const expected = head.seq + 1
  if (!isWhole) return "part of a record, which a crash left; the next append moves it to a file of its own"
  if (record === undefined) return `record ${expected} was edited: it is not a record in canonical JSON`
  const { seq, previous } = record
  const next = lines[index + 1]?.record
  if (seq !== expected) {
    const later = lines.slice(index + 1).map((line) => line.record?.seq)
    if (seq < expected || later.includes(seq)) return `a line was inserted before record ${expected}: record ${seq}`
    return later.includes(expected)
      ? `record ${expected} was moved: record ${seq} is in its place`
      : `record ${expected} was removed`
  }
  if (previous === head.sha256) return record
  if (next?.seq === expected && next.previous === head.sha256) return `a line was inserted before record ${expected}`
  const isConfirmed = next?.previous === line.sha256
  return head.seq > 0 && (isConfirmed || next === undefined)
    ? `record ${head.seq} was edited: its checksum is not the one in record ${expected}`
    : `record ${expected} was edited: it does not have the checksum of the line before`
}

/** Longer than any record. */
export const lineBytesMax = 256 * 1024

/** The lines up to the first that is longer than any record, which ends the part that can be intact. */
export const linesOf = async (path: string): Promise<ReadonlyArray<Line>> => {
  const lines: Array<Line> = []
  /** The beginning of a line, in pieces: joining them for each chunk would take time with the square of its length. */
  let pieces: Array<Buffer> = []
  let length = 0
  const add = (isWhole: boolean) => {
    const bytes = Buffer.concat(pieces)
    const record = bytes.length > lineBytesMax ? undefined : recordOf(bytes.toString("utf8"))
    lines.push({ record, sha256: sha256Of(bytes), isWhole })
    pieces = []
    length = 0
  }
  try {
    const chunks: AsyncIterable<Buffer> = createReadStream(path)
    for await (const chunk of chunks) {
      let from = 0
      for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
        pieces.push(chunk.subarray(from, end))
        add(true)
        from = end + 1
      }
      pieces.push(chunk.subarray(from))
      length += chunk.length - from
      if (length > lineBytesMax) {
        add(true)
        return lines
      }
    }
  } catch (cause) {
    if (codeOf(cause) !== "ENOENT") throw cause
  }
  if (length > 0) add(false)
  return lines
}
const lineFeed = 10
