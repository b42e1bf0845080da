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
import type { Window } from "../catalog/timestamps.ts"
import type { Capabilities } from "../values/capabilities.ts"
import type { Checkpoint } from "../values/checkpoint.ts"
import type { Facts } from "../values/status.ts"
import { upgraded } from "./upgrade.ts"

interface Common {
  readonly run: string
  /** When the answer came, epoch milliseconds. */
  readonly at: number
  readonly location: string
  readonly resource: string
}

/** The row that the records of a page belong to. */
export interface Parent {
  readonly id: string
  /** The version of the row when its reading began. */
  readonly version: string
  /** This page is the last one. */
  readonly done: boolean
  /** Everything under the row is read, not only what is recent. */
  readonly full: boolean
}

/** A page of a list, the children of a row, or a detail. */
export interface PageEntry extends Common {
  readonly kind: "page" | "detail"
  /** Of a list: which partition. Of children and details: their label in counts and state. */
  readonly partition: string
  readonly request: unknown
  /** Dotted path of the records in the body. */
  readonly records: string
  readonly parent?: Parent
  /** The body holds numbers that a double would change (json.ts). */
  readonly hasBigNumbers: boolean
  /** After this page; none where the service has nothing under a row. */
  readonly checkpoint?: Checkpoint
}

/** The end of a reading. No body. */
export interface EndEntry extends Common {
  readonly kind: "end"
  readonly outcome: Outcome
}
/** How a reading ended; times in epoch milliseconds. How complete it is follows from `Facts`. */
export interface Outcome extends Facts {
  readonly mode: "full" | "incremental" | "children" | "window"
  readonly requests: number
  /** Of an incomplete one: it came to the end of its list, so the next one begins anew. */
  readonly finished?: boolean
  /** When the reading began, maybe in an earlier run. */
  readonly begunAt?: number
  /** The same moment by the service's clock. */
  readonly servedAt?: number
  readonly since?: number
  readonly watermark?: number
  /** What the service said it holds. */
  readonly total?: number
  readonly capabilities?: Capabilities
}

/** Records found to be deleted; the body is the list of their keys. */
export interface DeletedEntry extends Common {
  readonly kind: "deleted"
}

/** A window of the past is read: what lies in it need not be asked for again. No body. */
export interface WindowEntry extends Common {
  readonly kind: "window"
  readonly window: Window
}

export type Entry = PageEntry | EndEntry | DeletedEntry | WindowEntry

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

/**
 * What in a frame cannot have been written by a run of this account, in words: nobody would read it, so it is damage.
 * `resources`: tables, and what follow-ups are counted as.
 */
export const foreignIn = (
  { kind, resource, location }: Entry,
  known: { readonly resources: ReadonlySet<string>; readonly locations: ReadonlySet<string> }
): string | undefined => {
  if (!kinds.has(kind)) return `an entry of the kind ${kind}, which does not exist`
  if (!known.resources.has(resource)) return `an entry of the resource ${resource}, which does not exist`
  return known.locations.has(location) ? undefined : `an entry of the location ${location}, which was never read`
}
const kinds: ReadonlySet<string> = new Set<Entry["kind"]>(["page", "detail", "end", "deleted", "window"])
