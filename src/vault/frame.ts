/**
 * One entry of the vault on disk: a line of JSON that describes it, then the body byte for byte as it was received.
 *
 *     {"kind":"page","resource":"contacts",…,"bytes":92011,"crc32":2839201122,"crc":1022938475}\n
 *     {"contacts":[…]}\n
 *
 * `crc32` is that of the body, `crc` that of the line before it: a line that holds by itself tells for certain whether its
 * body was cut off. Earlier versions wrote no `crc`. Bodies are one line as a rule, so a segment reads as NDJSON in other
 * tools.
 */
import { crc32 } from "node:zlib"
import type { Entry } from "./entry.ts"
import { upgraded } from "./upgrade.ts"

export interface Frame {
  readonly entry: Entry
  readonly body: string
  /** The body's value, where it is known; of no concern to the file. */
  readonly parsed?: unknown
}

export const encode = ({ entry, body }: Frame): Buffer => {
  const bytes = Buffer.from(body)
  const head = JSON.stringify({ ...entry, bytes: bytes.length, crc32: crc32(bytes) }).slice(0, -1)
  return Buffer.concat([Buffer.from(`${head}${headSum}${crc32(head)}}\n`), bytes, newline])
}
const newline = Buffer.from("\n")
const headSum = ',"crc":'

export interface Decoded extends Frame {
  /** Where the next frame begins: in `decode` within the bytes given, in `Vault.read` within the segment. */
  readonly end: number
}

/** The frame that begins at `start`, or `undefined` where it is cut off or damaged. */
export const decode = (segment: Buffer, start: number): Decoded | undefined => {
  const found = find(segment, start)
  return typeof found === "string"
    ? undefined
    : {
        entry: upgraded(found.entry),
        body: segment.toString("utf8", found.bodyStart, found.bodyEnd),
        end: found.bodyEnd + 1
      }
}

/** Where the last whole frame ends, counted from the first byte; the end of the segment where nothing is wrong. */
export const validUntil = (segment: Buffer): number => {
  let end = 0
  for (let found = find(segment, 0); typeof found !== "string"; found = find(segment, end)) end = found.bodyEnd + 1
  return end
}

/**
 * Whether what begins at `start` is a frame whose writing was cut off, and not one that was damaged later. A power cut may
 * leave anything in place of what was not synced: where nothing from `start` on was loaded, a frame that does not hold is
 * a cut one as well, unless a whole frame follows it.
 */
export const isTorn = (segment: Buffer, start: number, isLoaded: boolean): boolean => {
  const found = find(segment, start)
  return found === "cut" || ((found === "maybe cut" || !isLoaded) && !isAnyBehind(segment, start))
}

interface Found {
  readonly entry: Entry
  readonly bodyStart: number
  readonly bodyEnd: number
}

/** `maybe cut`: by the length that a head without a checksum tells. */
const find = (segment: Buffer, start: number): Found | "cut" | "maybe cut" | "damaged" => {
  const headEnd = segment.indexOf(10, start)
  if (headEnd < 0) return "cut"
  const line = segment.subarray(start, headEnd)
  const head = headIn(line)
  if (!head) return "damaged"
  const { bytes, crc32: expected, crc, ...entry } = head
  const [bodyStart, bodyEnd] = [headEnd + 1, headEnd + 1 + bytes]
  if (bodyEnd >= segment.length) return crc === undefined ? "maybe cut" : "cut"
  if (segment[bodyEnd] !== 10 || crc32(segment.subarray(bodyStart, bodyEnd)) !== expected) return "damaged"
  return { entry, bodyStart, bodyEnd }
}

type Head = Entry & { readonly bytes: number; readonly crc32: number; readonly crc?: number }

const headIn = (line: Buffer): Head | undefined => {
  const at = line.lastIndexOf(headSum)
  const [, sum] = at < 0 ? [] : (/^(\d+)}$/.exec(line.toString("latin1", at + headSum.length)) ?? [])
  // Only a head that ends as earlier versions wrote it may do without: else a damaged checksum would be none.
  const holds =
    sum === undefined ? /,"crc32":\d+}$/.test(line.toString("latin1")) : crc32(line.subarray(0, at)) === Number(sum)
  if (!holds) return undefined
  try {
    const head = JSON.parse(line.toString("utf8"))
    return Number.isInteger(head?.bytes) && head.bytes >= 0 && Number.isInteger(head?.crc32) ? head : undefined
  } catch {
    return undefined
  }
}

const isAnyBehind = (segment: Buffer, start: number): boolean => {
  for (let at = segment.indexOf(entryStart, start); at >= 0; at = segment.indexOf(entryStart, at + 1))
    if (typeof find(segment, at + 1) !== "string") return true
  return false
}
const entryStart = Buffer.from('\n{"kind":')
