/** Strategies: the requests that read a list, and how each continues from page to page. */
import type { Duration } from "effect"
import type { OptionalSetting } from "./optional-settings.ts"
import type { Parameters, Request } from "./request.ts"

/** How the request for the next page follows from the page before it. */
export type Paging =
  /** The only page holds everything. */
  | { readonly kind: "once" }
  /** Skips what was read. Pages overlap by one record, so that an insertion or deletion between two requests shows. */
  | { readonly kind: "offset" }
  | { readonly kind: "pageNumber"; readonly first: number }
  /** The cursor is a field of the last record of the page. */
  | { readonly kind: "lastRecord"; readonly field: string }
  /** The cursor consists of several values of the response body. */
  | { readonly kind: "body"; readonly parts: Readonly<Record<string, string>> }
  /**
   * The cursor is a sort value with the id of its record. Where the service compares the value alone, records that share
   * it are read again. Where more records share it than fit in a page, they are read in parts: once with each set of
   * parameters of the first level of `splitBy`, and where that is not enough, with each of those and each of the next level.
   */
  | {
      readonly kind: "sortValue"
      readonly field: string
      readonly descending?: true
      readonly splitBy?: ReadonlyArray<ReadonlyArray<Parameters>>
    }
  /**
   * The cursor expires if it is not used for a while, and is never stored. After an interruption, reading resumes at the
   * `anchor` time of the last record, which replaces the `since` placeholder.
   */
  | { readonly kind: "expiring"; readonly field: string; readonly anchor?: string }

/** One request, with its paging, that reads a list. */
export interface Strategy {
  readonly request: Request
  readonly paging: Paging
  /** Dotted path of the array of records in the body; `""` for a body that is the record or the array itself. */
  readonly records: string
  /** The documented maximum. Where the service refuses it, a smaller size is used and remembered. */
  readonly pageSize: number
  /** Where no maximum is documented: a larger size, tried once on a list that is long enough to gain by it. */
  readonly trialPageSize?: number
  /** Dotted path of the total, where the service sends one. Totals are compared; they never end a list. */
  readonly total?: string
  /** Dotted path of a boolean that says whether another page follows, where the service sends one. */
  readonly more?: string
  /** Records that the service shows at most; a longer list is cut into windows. */
  readonly maxRecords?: number
  /** Range of time to read; replaces `windowStart` and `windowEnd`, and is cut where the service cannot show it at once. */
  readonly windows?: Windows
  /** Field that the list is sorted by, newest first: reading ends at the first page that reaches behind the watermark minus the overlap. */
  readonly stopBefore?: string
  /** Field that must lie within `since` or the window in every record; it reveals a filter that the service ignores. */
  readonly verifyField?: string
}

interface Windows {
  /** A date, the watermark minus the overlap, or the start of the reading. */
  readonly from: string | "since" | "now"
  /**
   * How far the last window reaches beyond now, or the setting that holds this number of days. Default: two days, because
   * the service's clock may be ahead of ours.
   */
  readonly ahead?: Duration.Input | { readonly daysOf: OptionalSetting }
  /** Longest window that the service accepts. */
  readonly longest?: Duration.Input
}

/** How one record is read by itself. */
export interface GetOne {
  readonly request: Request
  /** Dotted path of the record in the body; `""` for a body that is the record. */
  readonly record: string
  /** Columns whose values differ from those of the list although nothing changed. */
  readonly differing?: ReadonlyArray<string>
}
