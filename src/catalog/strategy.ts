/** Strategies: the requests that read a list, and how one page leads to the next. */
import type { Duration } from "effect"
import type { OptionalSetting } from "./optional-settings.ts"
import type { Parameters, Request } from "./request.ts"

/** How the request for the next page is derived from the page before it. */
export type Paging =
  /** The list is a single page. */
  | { readonly kind: "once" }
  /** The number of records to skip. Pages overlap by one record, which reveals insertions and deletions between requests. */
  | { readonly kind: "offset" }
  | { readonly kind: "pageNumber"; readonly first: number }
  /** The cursor is a field of the last record of the page, which sources name differently, or else of the response body. */
  | { readonly kind: "lastRecord"; readonly field: string; readonly elsewhere?: string }
  /** The cursor consists of several values of the response body; `parts` are their dotted paths by name. */
  | { readonly kind: "body"; readonly parts: Readonly<Record<string, string>> }
  /**
   * The cursor is the sort value and the id of a record. If the service compares only the value, records with the same
   * value are read again. If more records share a value than fit on a page, they are read in parts: once with each set of
   * parameters of the first level of `splitBy`, and a part that is still too large once with each set of the next level.
   */
  | {
      readonly kind: "sortValue"
      readonly field: string
      readonly descending?: true
      readonly splitBy?: ReadonlyArray<ReadonlyArray<Parameters>>
    }
  /**
   * The cursor expires if it is not used for a while, and is never stored. An interrupted list resumes from the highest
   * `anchor` timestamp that it has returned, which replaces the `since` placeholder; without `anchor` it starts again.
   */
  | { readonly kind: "expiring"; readonly field: string; readonly anchor?: string }

/** A value that a member may have: `true` and nothing else, a status of a success, or any of its kind. An absent `true` is missing. */
export type Beside = "true" | "ok" | "boolean" | "text" | "number" | "list" | "null" | "any"

/** One request, with its paging, that reads a list. */
export interface Strategy {
  readonly request: Request
  readonly paging: Paging
  /** Dotted path of the array of records in the body; `""` if the body is the record or the array itself. */
  readonly records: string
  /** Other places of the array, where sources differ about it. */
  readonly elsewhere?: ReadonlyArray<string>
  /** What the documents name beside the list, by path, besides total, cursor and `more`: the only shape of an empty list. */
  readonly beside?: Readonly<Record<string, Beside>>
  /** For a body of a shape of its own: whether it has the list. Without the list, a response proves nothing. */
  readonly hasList?: (body: unknown) => boolean
  /** The documented maximum. If the service rejects it, a smaller size is used and stored in the capabilities. */
  readonly pageSize: number
  /** The size of the first page of a list whose changes usually fit on a smaller one. */
  readonly firstPageSize?: number
  /** If no maximum is documented: a larger size, tried once on a list that is long enough to benefit from it. */
  readonly trialPageSize?: number
  /** Dotted path of the total, if the service sends one. A total is compared with the count; it never ends a list. */
  readonly total?: string
  /** Dotted path of the boolean for whether another page follows, if the service sends one. */
  readonly more?: string
  /** Number of records that the service returns at most; a longer list is split into windows, if it has any. */
  readonly maxRecords?: number
  /** Time range to read, for `windowStart` and `windowEnd`. It is split if the service cannot return it at once. */
  readonly windows?: Windows
  /**
   * Field by which the list is sorted, newest first. An incremental read ends at the first page that ends before the
   * watermark minus the overlap.
   */
  readonly stopBefore?: string
  /**
   * Field by which a service may sort that ignores the request for another order. A page proves its order by `stopBefore` only if
   * it is not in the order of this field, too.
   */
  readonly notSortedBy?: string
  /** Timestamp that must be after `since` or in the window in every record; else the service ignores the filter. */
  readonly verifyField?: string
}

export interface Windows {
  /** A date, the watermark minus the overlap (`since`), or the start of the read (`now`). */
  readonly from: string | "since" | "now"
  /**
   * Time from the start of the read to the end of the last window, or the setting that holds this number of days.
   * Default: two days, because the clock of the service may be ahead.
   */
  readonly ahead?: Duration.Input | { readonly daysOf: OptionalSetting }
  /** Longest window that the service accepts. */
  readonly longest?: Duration.Input
}

/** The request that reads a single record. */
export interface GetOne {
  readonly request: Request
  /** Dotted path of the record in the body; `""` if the body is the record. */
  readonly record: string
  /** Columns whose values differ from those of the list even in an unchanged record. */
  readonly differing?: ReadonlyArray<string>
}
