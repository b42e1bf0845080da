/**
 * One entry of the vault on disk: a line of JSON that describes it, then the body byte for byte as it was received.
 *
 *     {"kind":"page","resource":"contacts",…,"bytes":92011,"crc32":2839201122}\n
 *     {"contacts":[…]}\n
 *
 * Bodies are one line as a rule, so a segment reads as NDJSON in other tools.
 */
import { crc32 } from "node:zlib"
import type { Window } from "../catalog/instants.ts"

/** Where a pass over a resource stands after an entry; what `extract` needs to go on from there. */
export type Progress = Readonly<Record<string, unknown>>

interface Common {
  readonly run: string
  /** When the answer came, epoch milliseconds. */
  readonly at: number
  readonly location: string
  readonly resource: string
}

/** The row a page was read under. */
export interface Parent {
  readonly id: string
  /** The state it was in when its reading began. */
  readonly state: string
  /** This page is the last one. */
  readonly done: boolean
  /** Everything under it is read, not only what is recent. */
  readonly full: boolean
}

/** A page of a list, the answer of a fan-out, or a detail. */
export interface PageEntry extends Common {
  readonly kind: "page" | "detail"
  /** Of a list: which of its passes. Of a follow-up: what it is called in counts and state. */
  readonly pass: string
  readonly request: unknown
  /** Dotted path of the records in the body. */
  readonly records: string
  readonly parent?: Parent
  /** The body holds numbers that a double would change (body.ts). */
  readonly long: boolean
  /** State of the pass after this page. */
  readonly progress: Progress
}

/** The end of a reading: its watermark and how it went. No body. */
export interface EndEntry extends Common {
  readonly kind: "end"
  readonly outcome: Outcome
}
/** How a reading ended; times in epoch milliseconds. */
export interface Outcome {
  readonly mode: "full" | "changed" | "each" | "window"
  readonly verdict: "complete" | "complete with doubts" | "incomplete"
  readonly doubts: ReadonlyArray<string>
  readonly requests: number
  /** Of an incomplete one: it came to its end, so the next one begins anew. */
  readonly finished?: boolean
  /** When the reading began, maybe in an earlier run. */
  readonly begunAt?: number
  /** The same moment by the service's clock. */
  readonly servedAt?: number
  readonly since?: number
  readonly watermark?: number
  /** What the service said it holds. */
  readonly total?: number
  /** Findings about this account to start with next time: page sizes refused, ways that work. */
  readonly way?: unknown
}

/** Records found to be gone; the body is the list of their keys. */
export interface GoneEntry extends Common {
  readonly kind: "gone"
}

/** A window of the past is read: what lies in it need not be asked for again. No body. */
export interface WindowEntry extends Common {
  readonly kind: "window"
  readonly window: Window
}

export type Entry = PageEntry | EndEntry | GoneEntry | WindowEntry

export interface Frame {
  readonly entry: Entry
  readonly body: string
  /** The body's value, where it is known; of no concern to the file. */
  readonly parsed?: unknown
}

export const encode = ({ entry, body }: Frame): Buffer => {
  const bytes = Buffer.from(body)
  const head = JSON.stringify({ ...entry, bytes: bytes.length, crc32: crc32(bytes) })
  return Buffer.concat([Buffer.from(`${head}\n`), bytes, newline])
}
const newline = Buffer.from("\n")

export interface Decoded extends Frame {
  /** Where the next frame begins: in `decode` within the bytes given, in `Vault.read` within the segment. */
  readonly end: number
}

/** The frame that begins at `start`, or `undefined` where it is cut off or damaged. */
export const decode = (segment: Buffer, start: number): Decoded | undefined => {
  const headEnd = segment.indexOf(10, start)
  if (headEnd < 0) return undefined
  const head = parsed(segment.toString("utf8", start, headEnd))
  if (!head) return undefined
  const { bytes, crc32: expected, ...entry } = head
  const bodyEnd = headEnd + 1 + bytes
  if (bodyEnd >= segment.length || segment[bodyEnd] !== 10) return undefined
  const body = segment.subarray(headEnd + 1, bodyEnd)
  return crc32(body) === expected ? { entry, body: body.toString("utf8"), end: bodyEnd + 1 } : undefined
}

const parsed = (line: string): (Entry & { bytes: number; crc32: number }) | undefined => {
  try {
    const head = JSON.parse(line)
    return Number.isInteger(head?.bytes) && Number.isInteger(head?.crc32) ? head : undefined
  } catch {
    return undefined
  }
}
