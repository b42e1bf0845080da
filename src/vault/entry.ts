/** What stands in the vault: one entry per page, and per end of a reading, deletion and window. */
import type { Window } from "../catalog/timestamps.ts"
import type { Capabilities } from "../values/capabilities.ts"
import type { Checkpoint } from "../values/checkpoint.ts"
import type { Facts } from "../values/status.ts"

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
