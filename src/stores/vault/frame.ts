/**
 * The format of a vault entry on disk: a header line of JSON, then the body exactly as received.
 *
 *     {"kind":"page","resource":"contacts",…,"bytes":92011,"crc32":2839201122,"crc":1022938475}\n
 *     {"contacts":[…]}\n
 *
 * `crc32` is the checksum of the body, `crc` that of the header before it: a valid header shows for certain whether its
 * body is truncated. Most bodies are one line, so other tools can read a segment as NDJSON.
 */
import type { Entry } from "./entry.ts"
import { nodeZlib } from "../../values/node.ts"

export interface Frame {
  readonly entry: Entry
  readonly body: string | Buffer
}

export const encode = ({ entry, body }: Frame): Buffer => {
  const bytes = Buffer.from(body)
  const header = JSON.stringify({ ...entry, bytes: bytes.length, crc32: nodeZlib().crc32(bytes) }).slice(0, -1)
  return Buffer.concat([Buffer.from(`${header}${checksumKey}${nodeZlib().crc32(header)}}\n`), bytes, newline])
}

/** The body of an encoded frame. */
export const bodyIn = (encoded: Buffer): Buffer => encoded.subarray(encoded.indexOf(10) + 1, -1)
const newline = Buffer.from("\n")
const checksumKey = ',"crc":'

/** A frame of the vault. Its bytes are valid until the next read. */
export class Decoded implements Frame {
  readonly entry: Entry
  readonly bytes: Buffer
  /** Where the next frame starts: for `decode` within the given bytes, for `Vault.read` within the segment. */
  readonly end: number

  constructor(entry: Entry, bytes: Buffer, end: number) {
    this.entry = entry
    this.bytes = bytes
    this.end = end
  }

  get body(): string {
    return this.bytes.toString("utf8")
  }
}

/** The frame at `start`; `undefined` if it is truncated or damaged. */
export const decode = (segment: Buffer, start: number): Decoded | undefined => {
  const found = find(segment, start)
  return typeof found === "string"
    ? undefined
    : new Decoded(found.entry, segment.subarray(found.bodyStart, found.bodyEnd), found.bodyEnd + 1)
}

/** The offset where the valid frames from the start of a segment end; its length if all are valid. */
export const validUntil = (segment: Buffer): number => {
  let end = 0
  for (let found = find(segment, 0); typeof found !== "string"; found = find(segment, end)) end = found.bodyEnd + 1
  return end
}

/**
 * Whether the bytes from `start` on are a torn write, and not a frame that was damaged later. A power cut may leave any
 * bytes in place of unsynced ones: if nothing from `start` on has been loaded, an invalid frame is a torn write too, unless
 * a valid frame follows it.
 */
export const isTorn = (segment: Buffer, start: number, isLoaded: boolean): boolean => {
  const found = find(segment, start)
  return found === "truncated" || (!isLoaded && !hasFrameAfter(segment, start))
}

interface Found {
  readonly entry: Entry
  readonly bodyStart: number
  readonly bodyEnd: number
}

const find = (segment: Buffer, start: number): Found | "truncated" | "damaged" => {
  const headerEnd = segment.indexOf(10, start)
  if (headerEnd < 0) return "truncated"
  const line = segment.subarray(start, headerEnd)
  const header = headerIn(line)
  if (!header) return "damaged"
  const { bytes, crc32: expected, crc: _, ...entry } = header
  const [bodyStart, bodyEnd] = [headerEnd + 1, headerEnd + 1 + bytes]
  if (bodyEnd >= segment.length) return "truncated"
  if (segment[bodyEnd] !== 10 || nodeZlib().crc32(segment.subarray(bodyStart, bodyEnd)) !== expected) return "damaged"
  return { entry, bodyStart, bodyEnd }
}

type Header = Entry & { readonly bytes: number; readonly crc32: number; readonly crc: number }

const headerIn = (line: Buffer): Header | undefined => {
  const at = line.lastIndexOf(checksumKey)
  const [, checksum] = at < 0 ? [] : (/^(\d+)}$/.exec(line.toString("latin1", at + checksumKey.length)) ?? [])
  if (checksum === undefined || nodeZlib().crc32(line.subarray(0, at)) !== Number(checksum)) return undefined
  try {
    // The checksum shows that sluice wrote the line; a schema would check each frame of the vault again.
    const header = JSON.parse(line.toString("utf8"))
    return Number.isInteger(header?.bytes) && header.bytes >= 0 && Number.isInteger(header?.crc32) ? header : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether a version before 1.0.0 wrote the first frame of a segment: its header has no checksum, although that of the body is
 * right, or its members have other names. Such a segment is neither torn nor damaged.
 */
export const isOlder = (segment: Buffer): boolean => {
  const end = segment.indexOf(10)
  if (end < 0) return false
  try {
    const header = JSON.parse(segment.toString("utf8", 0, end))
    if (header.crc === undefined)
      return (
        Number.isInteger(header.bytes) &&
        nodeZlib().crc32(segment.subarray(end + 1, end + 1 + header.bytes)) === header.crc32
      )
    return "pass" in header || header.kind === "gone" || (header.kind === "end" && !("shortfalls" in header.outcome))
  } catch {
    return false
  }
}

const hasFrameAfter = (segment: Buffer, start: number): boolean => {
  for (let at = segment.indexOf(entryStart, start); at >= 0; at = segment.indexOf(entryStart, at + 1))
    if (typeof find(segment, at + 1) !== "string") return true
  return false
}
const entryStart = Buffer.from('\n{"kind":')
