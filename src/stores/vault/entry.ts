/**
 * The entries of the vault: each is a page, the end of a reading, a set of deleted or of existing records, or a backfilled
 * window.
 */
import type { Window } from "../../catalog/timestamps.ts"
import type { Capabilities } from "../../values/capabilities.ts"
import type { Checkpoint } from "../../values/checkpoint.ts"
import type { Mode } from "../../values/run-resource.ts"
import type { Facts } from "../../values/status.ts"

interface Common {
  readonly run: string
  /** When the response was received, or an entry without one was made; epoch milliseconds. */
  readonly at: number
  readonly location: string
  readonly resource: string
}

/** The parent row of the records on a page. */
export interface Parent {
  readonly id: string
  /** The version of the row when its reading began. */
  readonly version: string
  /** Whether this is the last page of the parent. */
  readonly done: boolean
  /** Whether all children of the parent are read, not only recent ones. Rows that it does not return are noted. */
  readonly full: boolean
}

/** A page of a list or of the children of a parent, or a detail. */
export interface PageEntry extends Common {
  readonly kind: "page" | "detail"
  /** The partition of a list; for children and details, their label in counts and state. */
  readonly partition: string
  readonly request: unknown
  /** Dotted path of the records in the body. */
  readonly records: string
  readonly parent?: Parent
  /** Whether the body has numbers that a double cannot represent; see catalog/json.ts. */
  readonly hasBigNumbers: boolean
  /** Records that are not stored, because a load would find them unchanged. They are counted as read. */
  readonly compacted?: number
  /**
   * The digest of a page of a list that is read in full each time, as it was received. Without a body: the page was the same as
   * an earlier one with this digest, and the warehouse had its rows.
   */
  readonly digest?: string
  /** False if the last ids in the checkpoint are left out: they are the last keys of the earlier page. */
  readonly hasLastIds?: false
  /** What the settings kept out of the body, which is otherwise as received; see catalog/withheld.ts. */
  readonly withheld?: ReadonlyArray<string>
  /** The checkpoint after this page; absent if the service has nothing for the parent. */
  readonly checkpoint?: Checkpoint
}

/** Of a page that no longer has all its records: later ones that were the same say so of the page as it was received. */
export const withoutDigest = (page: PageEntry): PageEntry => {
  const { digest: _, ...entry } = page
  return entry
}

export const isPage = (entry: Entry): entry is PageEntry => entry.kind === "page" || entry.kind === "detail"

/** The end of a reading. No body. */
export interface EndEntry extends Common {
  readonly kind: "end"
  readonly outcome: Outcome
}

/** How a reading ended. Times are epoch milliseconds. The status follows from `Facts`. */
export interface Outcome extends Facts {
  readonly mode: Mode
  readonly requests: number
  /** Whether an incomplete reading reached the end of its list, so that the next one starts over. */
  readonly finished?: boolean
  /** When the reading began by the local clock, possibly in an earlier run. */
  readonly begunAt?: number
  /** The same time by the service's clock. */
  readonly servedAt?: number
  readonly since?: number
  /**
   * Of children: when those of the least recently fetched parent were fetched; absent if there is no parent. Of a list that an
   * earlier run has begun, and that says nothing about changes: when it began.
   */
  readonly fetchedAt?: number
  readonly watermark?: number
  /** The service's total. */
  readonly total?: number
  /** When deleted rows were last looked for: after a full reading, or when the service's total agreed with the live rows. */
  readonly soughtAt?: number
  readonly capabilities?: Capabilities
}

/** Records that are found to be deleted. The body is a JSON array of their keys. */
export interface DeletedEntry extends Common {
  readonly kind: "deleted"
}

/** Records that their parent did not return, but that the service still has. The body is a JSON array of their keys. */
export interface ExistingEntry extends Common {
  readonly kind: "existing"
}

/** A window that a backfill has read, so it need not be requested again. No body. */
export interface WindowEntry extends Common {
  readonly kind: "window"
  readonly window: Window
}

export type Entry = PageEntry | EndEntry | DeletedEntry | ExistingEntry | WindowEntry

/**
 * Describes an entry that no run of this account can have written, which therefore counts as damage; `undefined` for any
 * other entry. `resources`: tables and labels of child requests.
 */
export const foreignIn = (
  { kind, resource, location }: Entry,
  expected: { readonly resources: ReadonlySet<string>; readonly locations: ReadonlySet<string> }
): string | undefined => {
  if (!kinds.has(kind)) return `an entry of the kind ${kind}, which does not exist`
  if (!expected.resources.has(resource)) return `an entry of the resource ${resource}, which does not exist`
  return expected.locations.has(location) ? undefined : `an entry of the location ${location}, which was never read`
}

const kinds: ReadonlySet<string> = new Set<Entry["kind"]>(["page", "detail", "end", "deleted", "existing", "window"])
