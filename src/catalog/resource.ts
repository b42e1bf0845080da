/** A resource: what is read, how it continues, what changed means, and the tables it becomes. */
import type { BooleanSetting, OptionalSetting, OptionalSettings } from "./optional.ts"
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
  /**
   * The cursor is a sort value with the id of its record. Where the service looks at the value alone, records that share it
   * are asked for again; where more share it than a page holds, they are asked for in parts: by each set of parameters of
   * the first level of `parts`, and where that is not enough, by each of those together with each of the next.
   */
  | {
      readonly kind: "sortValue"
      readonly field: string
      readonly descending?: true
      readonly splitBy?: ReadonlyArray<ReadonlyArray<Parameters>>
    }
  /**
   * The cursor dies if it is not used for a while; it is never stored. After an interruption the reading goes on from
   * the last record's `anchor` time, which fills the `since` hole.
   */
  | { readonly kind: "expiring"; readonly field: string; readonly anchor?: string }

/** One way to read a list. */
export interface Strategy {
  readonly request: Request
  readonly paging: Paging
  /** Dotted path of the array of records in the body; `""` for a body that is the record or the array itself. */
  readonly records: string
  /** Asked for at once: the documented maximum. A smaller one is asked for, and remembered, where the service refuses it. */
  readonly pageSize: number
  /** Where no maximum is documented: tried once on a list that is long enough to gain by it. */
  readonly trialPageSize?: number
  /** Dotted path of the total, where the service gives one. Totals prove and warn; they never end a loop. */
  readonly total?: string
  /** Dotted path of a flag that says whether another page follows, where the service gives one. */
  readonly more?: string
  /** At most this many records can be reached, or one page where there is only one; more are cut into windows. */
  readonly maxRecords?: number
  /** Time to be covered; fills `windowStart` and `windowEnd`, and is cut where the service cannot give it at once. */
  readonly windows?: Windows
  /** Newest first: stop at the first page that ends before the watermark less its overlap. */
  readonly stopBefore?: string
  /** Record field that a filter on `since` or on the window must show in every row; a filter the service ignores shows here. */
  readonly verifyField?: string
}

export interface Windows {
  /** A day, the watermark less its overlap, or the start of the reading. */
  readonly from: string | "since" | "now"
  /** How far ahead of now; two days where nothing is said, as the service's clock may be ahead of ours. */
  readonly aheadDays?: number | OptionalSetting
  /** Longest window the service takes. */
  readonly daysMax?: number
}

export interface Changes {
  /**
   * Instant of the last change, newest wins; its highest value is the watermark. Where changes are read by windows, the
   * instant that the windows go by.
   */
  readonly field: string
  /** Where `field` is missing from the records: the field used instead, with days to read again. */
  readonly fallback?: { readonly field: string; readonly days: number }
  /** Read again before the watermark: index lag, clock differences, late arrivals. */
  readonly overlapDays: number
  /** Ways to ask only for what changed; tried in order, then the full ways, with the reason recorded. */
  readonly strategies: ReadonlyArray<Strategy>
  /**
   * Ways to ask for what was added since, tried in order after those above: the service may leave `field` out of a record
   * until it first changes.
   */
  readonly added?: ReadonlyArray<Strategy>
  /** A full reading is due this often, because the ways above cannot see every change. */
  readonly fullEveryDays?: number
}

/** How a stretch of the past is read by itself. */
export interface Backfill {
  /** Instant that its windows go by. */
  readonly dateField: string
  /** Ways to ask for one window, tried in order. */
  readonly strategies: ReadonlyArray<Strategy>
  /** Asked for on either side of a window: where the service goes by days, in a zone it does not name. */
  readonly paddingDays?: number
}

/** When a request for each parent row is due: the row is new, or changed, or has its turn. */
export interface Refresh {
  /**
   * Column of the parent that moves with every change that matters. Without it the whole row decides, and an edited
   * definition makes every row look changed.
   */
  readonly versionColumn?: string
  /** Read again after this long even if the parent shows no change: not every change shows there. */
  readonly refreshAfterDays: number
}

/** A reading for each row of another table; the row's id fills the `parent` hole. */
export interface ChildOf extends Refresh {
  readonly table: string
  /** Column of ours that holds the parent's id. */
  readonly column: string
  readonly strategy: Strategy
  /** Which rows of it: a condition in SQL over its columns. */
  readonly where?: string
  /** Reading under those rows alone leaves something out: what, and the setting with which it is read under all of them. */
  readonly some?: { readonly omits: string; readonly unless: BooleanSetting }
  /** What is asked for where it is not the row's own id: SQL over its columns that gives one id or many. */
  readonly ids?: string
  /** Rows that the service lists as deleted, by this flag, are asked for too. */
  readonly tombstone?: string
  /** The service refuses (400, 422) what it has not got, instead of answering 404. */
  readonly emptyOnBadRequest?: true
  /** Between two full readings of a parent, only this. */
  readonly incremental?: { readonly strategy: Strategy; readonly days: number; readonly fullEveryDays: number }
  /** The answer is a file for this folder; the row says where it is. */
  readonly file?: string
}

/** What is asked for row by row: the detail of a resource's own rows, or a reading under another table's. */
export interface ChildRequest extends Omit<ChildOf, "column"> {
  readonly kind: "children" | "detail"
  /** What it is called in counts and state. */
  readonly label: string
  readonly enabledBy?: OptionalSetting
}

export const childRequestOf = ({ table, full, childOf, detail, tombstone }: Resource): ChildRequest | undefined => {
  if (childOf) return { ...childOf, kind: "children", label: full.length === 0 ? table : `${table}/${childOf.table}` }
  if (!detail) return undefined
  const { request, record, ...turn } = detail
  const strategy: Strategy = { request, paging: { kind: "once" }, records: record, pageSize: 1 }
  return { ...turn, kind: "detail", label: `${table}/details`, table, strategy, ...(tombstone && { tombstone }) }
}

/** A second request for each record that is new or changed, whose answer completes the row. */
export interface Detail extends Refresh {
  readonly request: Request
  /** Dotted path of the record in the body. */
  readonly record: string
  /** Columns and child tables that only the detail shows. */
  readonly fields: Fields
  /** Read only if this setting is set. */
  readonly enabledBy?: OptionalSetting
  /** A text on another host that the detail links to, fetched without the token and put into the record. */
  readonly linked?: { readonly url: string; readonly as: string }
}

/** A child table of field and value (`value`, `value_text`) that is also shown with a column for each field. */
export interface Wide {
  readonly table: string
  /** Its column that names the field: the id of a custom field, or a key. */
  readonly field: string
  /** Custom fields of this model have a column even before one is filled. */
  readonly model?: string
  /** The service may name a field by its key instead: it is told by its id as soon as the field is known. */
  readonly byKey?: true
  /** Of the column names, so that they never meet those of the table. */
  readonly prefix: string
}

/** One of several readings that together make the whole, for example open and completed. */
export interface Partition {
  readonly parameters?: Parameters
  /** What the pass says about each of its records, by column. */
  readonly columns?: Readonly<Record<string, string | boolean>>
}

export interface Resource {
  /** Table of the records; equals the definition's file name. */
  readonly table: string
  readonly description: string
  /** Section of the API documents this was read from. */
  readonly source: string
  /** Scope the token needs; `any` where every valid token will do. */
  readonly scope: string
  /** Ways to read everything, best first. None: it is read under other rows only. */
  readonly full: ReadonlyArray<Strategy>
  /** The passes of the list by name, which fills the `pass` hole; or the setting that lists them. */
  readonly partitions?: Readonly<Record<string, Partition>> | OptionalSetting
  /** Without it, everything is read every time and compared by hash. */
  readonly changes?: Changes
  /** Instant of the last change, where no way asks for what changed: of two copies of a record the newer stays. */
  readonly version?: string
  /** Without it, the past is read only as a part of everything. */
  readonly backfill?: Backfill
  /** Read under the rows of another table, beside the list or instead of it. */
  readonly childOf?: ChildOf
  readonly detail?: Detail
  /** Not read by requests of its own: the records are in the pages of this resource. */
  readonly embeddedIn?: { readonly table: string; readonly records: string }
  /** Records of a mixed list that belong here: those with this value in this field. */
  readonly filter?: { readonly field: string; readonly is: string }
  /** Turns a record of odd shape into the records that become rows. */
  readonly transform?: (record: unknown) => ReadonlyArray<unknown>
  /** Columns that identify the row in its location; `id` where nothing is said. */
  readonly key?: ReadonlyArray<string>
  /** Flag column by which the service says that the record is deleted. */
  readonly tombstone?: string
  /** Reads one record, to confirm that what a list no longer shows is gone; the detail does the same. */
  readonly getOne?: Request
  /** Rows vanish with the row of that table that this column names. */
  readonly cascadesFrom?: { readonly table: string; readonly column: string }
  /** Makes a view with a column for each field of this child table. */
  readonly wide?: Wide
  /** Read only if this setting is set. */
  readonly enabledBy?: OptionalSetting
  readonly fields: Fields
}

export const define = (resource: Resource): Resource => resource

/** Whether its list is asked for by the company that owns the location. */
export const asksForCompany = ({ full }: Resource): boolean => JSON.stringify(full).includes('"placeholder":"company"')

/** The passes of its list by name; `all` where there is one. */
export const partitionsOf = (
  { partitions }: Resource,
  settings: OptionalSettings
): ReadonlyArray<readonly [name: string, Partition]> => {
  if (typeof partitions !== "string") return Object.entries(partitions ?? { all: {} })
  const words = settings[partitions]
  return typeof words === "object" ? words.map((word) => [word, {}]) : []
}

/** What its backfill is called in state. */
export const backfillOf = (table: string): string => `${table}/backfill`

/** Those whose records are in the pages of this table. */
export const embeddedResourcesOf = (resources: ReadonlyArray<Resource>, table: string): ReadonlyArray<Resource> =>
  resources.filter(({ embeddedIn }) => embeddedIn?.table === table)
