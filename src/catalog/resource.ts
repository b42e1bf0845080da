/** A resource: what is read, how it continues, what changed means, and the tables it becomes. */
import type { Fields } from "./fields.ts"
import type { Parameters, Request } from "./request.ts"

/** How the request for the next page comes out of the page before it. */
export type Paging =
  /** Everything comes at once. */
  | { readonly kind: "once" }
  /** Skip what was read. Pages overlap by one record, so that a shift in between shows. */
  | { readonly kind: "offset" }
  | { readonly kind: "pageNumber"; readonly first: number }
  /** The cursor sits in the last record of the page. */
  | { readonly kind: "lastRecord"; readonly field: string }
  /** The cursor is made of several values in the body. */
  | { readonly kind: "body"; readonly parts: Readonly<Record<string, string>> }
  /** The cursor is the last record's sort value. Records that share it are asked for again. */
  | { readonly kind: "sortValue"; readonly field: string; readonly descending?: true }
  /**
   * The cursor dies if it is not used for a while; it is never stored. After an interruption the reading goes on from
   * the last record's `anchor` time, which fills the `since` hole.
   */
  | { readonly kind: "expiring"; readonly field: string; readonly anchor?: string }

/** One way to read a list. */
export interface Way {
  readonly request: Request
  readonly paging: Paging
  /** Dotted path of the array of records in the body; `""` for a body that is the record or the array itself. */
  readonly records: string
  /** Asked for at once: the documented maximum. Halved and remembered where the service refuses it. */
  readonly pageSize: number
  /** Dotted path of the total, where the service gives one. Totals prove and warn; they never end a loop. */
  readonly total?: string
  /** At most this many records can be reached, or one page where there is only one; more are cut into windows. */
  readonly reach?: number
  /** Time windows to cut the reading into, oldest first; they fill `windowStart` and `windowEnd`. */
  readonly windows?: { readonly from: string; readonly days: number }
  /** Newest first: stop at the first page that ends before the watermark less its overlap. */
  readonly until?: string
  /** Record field that a filter on `since` must show in every row; a filter the service ignores shows here. */
  readonly filtered?: string
}

export interface Changes {
  /** Instant of the last change, newest wins; its highest value is the watermark. */
  readonly field: string
  /** Where `field` is missing from the records: the field used instead, with days to read again. */
  readonly fallback?: { readonly field: string; readonly days: number }
  /** Read again before the watermark: index lag, clock differences, late arrivals. */
  readonly overlapDays: number
  /** Ways to ask only for what changed; tried in order, then the full ways, with the reason recorded. */
  readonly ways: ReadonlyArray<Way>
  /** A full reading is due this often, because the ways above cannot see every change. */
  readonly fullEveryDays?: number
}

/** When a request for each parent row is due: the row is new, or changed, or has its turn. */
export interface Turn {
  /**
   * Column of the parent that moves with every change that matters. Without it the whole row decides, and an edited
   * definition makes every row look changed.
   */
  readonly changedBy?: string
  /** Read again after this long even if the parent shows no change: not every change shows there. */
  readonly everyDays: number
}

/** A second request for each record that is new or changed, whose answer completes the row. */
interface Detail extends Turn {
  readonly request: Request
  /** Dotted path of the record in the body. */
  readonly record: string
  /** Columns and child tables that only the detail shows. */
  readonly fields: Fields
}

export interface Resource {
  /** Table of the records; equals the definition's file name. */
  readonly table: string
  readonly description: string
  /** Section of the API documents this was read from. */
  readonly source: string
  /** Scope the token needs. */
  readonly scope: string
  /** Read once for each row of this table; its id fills the `parent` hole and the column `<singular>_id`. */
  readonly each?: Turn & { readonly table: string; readonly column: string }
  /** Ways to read everything, best first. */
  readonly full: ReadonlyArray<Way>
  /** Sets of extra parameters that together make the whole, for example open and completed. */
  readonly passes?: Readonly<Record<string, Parameters>>
  /** Without it, everything is read every time and compared by hash. */
  readonly changes?: Changes
  readonly detail?: Detail
  readonly fields: Fields
}

export const define = (resource: Resource): Resource => resource
