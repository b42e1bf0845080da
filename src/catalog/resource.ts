/** The definition of a resource: its requests, how it finds changes, and the tables that store its records. */
import type { Duration } from "effect"
import type { BooleanSetting, OptionalSetting, OptionalSettings } from "./optional-settings.ts"
import { type Fields, withCommonFields } from "./fields.ts"
import type { PersonLinks } from "./person.ts"
import type { Parameters, Request } from "./request.ts"
import type { GetOne, Paging, Strategy } from "./strategy.ts"
import type { Withheld } from "./withheld.ts"

export type { Paging, Strategy }

/** When requests for each record are sent, other than by every sync. */
export type SingleReads = "night" | "never"

export interface Changes {
  /**
   * Timestamp of the last change. Up to its highest value, and the overlap after it, changes are known; and of two copies of a
   * record the newer one is kept. For strategies with windows: the timestamp by which the service filters.
   */
  readonly field: string
  /** The field that replaces `field` in records without it, and the additional overlap that it needs. */
  readonly fallback?: { readonly field: string; readonly overlap: Duration.Input }
  /** Time before the watermark that is read again, because of index lag, clock differences and late changes. */
  readonly overlap: Duration.Input
  /**
   * Reads the whole list, newest change first, as far as the watermark: its total counts all records, so one short page may
   * show what changed and that nothing is missing. Read before `strategies`, if every record has `field`.
   */
  readonly newest?: Strategy
  /** Strategies that read only changes, best first. If none works, the full strategies follow, with a warning. */
  readonly strategies: ReadonlyArray<Strategy>
  /**
   * Strategies that read only new records, best first. They complete every incremental read, because the service may omit
   * `field` from a record until its first change.
   */
  readonly added?: ReadonlyArray<Strategy>
  /**
   * Words in the types of the events that tell of such changes; the types are not documented completely (A 6). `listen` then reads
   * the changes at once.
   */
  readonly events?: ReadonlyArray<string>
  /** Interval of full syncs, for changes that the strategies above cannot find. Default: no regular full sync. */
  readonly fullEvery?: Duration.Input
}

/** How `backfill` reads a past period. */
export interface Backfill {
  /** Timestamp by which the service filters. */
  readonly dateField: string
  /** Strategies that read one window, best first. */
  readonly strategies: ReadonlyArray<Strategy>
  /** Time that is read before and after each window, because the service filters by day in an unknown time zone. */
  readonly padding?: Duration.Input
}

/** When the request for a parent row is due: the row is new, has changed, or was last requested too long ago. */
export interface Refresh {
  /**
   * Column of the parent that changes with every relevant change. Default: the hash of the row, which also changes for
   * every row when the definition is edited.
   */
  readonly versionColumn?: string
  /**
   * An unchanged parent is requested again after this time at the latest, and after half of it at the earliest, because
   * not every change is visible in the parent.
   */
  readonly refreshAfter: Duration.Input
}

/** A list that is requested for each row of another table, the parent, by its id. */
export interface ChildOf extends Refresh {
  readonly table: string
  /** Column of this resource that holds the id of the parent. */
  readonly column: string
  readonly strategy: Strategy
  /** SQL condition over the columns of the parent. Default: every row. */
  readonly where?: string
  /** What `where` leaves out, and the setting that lifts the condition. */
  readonly partial?: { readonly omits: string; readonly unless: BooleanSetting }
  /** How many requests `where` and `ids` make for a row of the parent in a typical account, for plans of a first sync. */
  readonly share?: number
  /** SQL expression over the columns of the parent that returns the ids to request, one or several. Default: `id`. */
  readonly ids?: string
  /** Column of the parent by which the service marks deleted rows; these are requested too. */
  readonly tombstone?: string
  /**
   * The service responds with 400, 404 or 422 to a parent without children, which is believed while it answers for others. From
   * any other list, these are errors. Stored children stay, because an error does not prove that they are deleted.
   */
  readonly noneIsError?: true
  /** A parent that was read completely is read by this strategy until `fullEvery` has passed. */
  readonly incremental?: {
    readonly strategy: Strategy
    readonly lookback: Duration.Input
    readonly fullEvery: Duration.Input
  }
  /** The response is a file; it is stored, and the row holds its path. */
  readonly isFile?: true
}

/** The requests for each row of a table: the details of a resource, or the children of another one. */
export interface ChildRequest extends Omit<ChildOf, "column"> {
  readonly kind: "children" | "detail"
  /** Its name in counts and state. */
  readonly label: string
  readonly enabledBy?: OptionalSetting
}

export const childRequestOf = (resource: Resource): ChildRequest | undefined => {
  const { table, kind, childOf, detail, getOne, tombstone } = resource
  if (childOf) return { ...childOf, kind: "children", label: kind === "child" ? table : `${table}/${childOf.table}` }
  if (!detail || !getOne) return undefined
  return {
    ...detail,
    kind: "detail",
    label: `${table}/details`,
    table,
    strategy: oneRecord(getOne),
    ...(tombstone && { tombstone })
  }
}

/** The label of the children or the detail of a resource that has them. */
export const childLabelOf = (resource: Resource): string => {
  const request = childRequestOf(resource)
  if (request === undefined) throw new Error(`${resource.table} is read neither by parents nor by a detail`)
  return request.label
}

/** A request for each new or changed record, by `getOne`, whose response completes the row. */
export interface Detail extends Refresh {
  /** Columns and child tables that only the detail contains. */
  readonly fields: Fields
  /** The setting that turns on the detail. Default: always read. */
  readonly enabledBy?: OptionalSetting
  /** A text on another host: `url` is its address in the detail; it is requested without the token and stored as `as`. */
  readonly linked?: { readonly url: string; readonly as: string }
}

/** A child table of fields and values (`value`, `value_text`) that is also published as a view with a column per field. */
export interface Wide {
  readonly table: string
  /** Its column with the id of the custom field, or with a key. */
  readonly field: string
  /** Every custom field of this model has a column, even without a value. */
  readonly model?: string
  /** The service may send the key of a field instead of its id; the loader replaces it once the field is loaded. */
  readonly byKey?: true
  /** Prefix of the column names, so that they differ from those of the table. */
  readonly prefix: string
}

/** One of several lists that make up a resource together, for example open and completed tasks. */
export interface Partition {
  readonly parameters?: Parameters
  /** Values that each record of this partition has, by column. */
  readonly columns?: Readonly<Record<string, string | boolean>>
}

interface Common {
  /** Table of the records; equals the definition's file name. */
  readonly table: string
  readonly description: string
  /** Section of the API documents that describes it, with its main operation: `B 2.4 GET /payments/orders`. */
  readonly source: string
  /** Scope that the token needs; `any` if the service accepts every valid token. */
  readonly scope: string
  /** Timestamp of the last change: of two copies of a record, the newer one is kept. Default: `changes.field`. */
  readonly version?: string
  /** For a list of mixed records: those of this resource have this value in this field. */
  readonly filter?: { readonly field: string; readonly is: string }
  /** Converts a record to the records that become rows. Apply it with `transformed`. */
  readonly transform?: (record: unknown) => ReadonlyArray<unknown>
  /** The fields of a record without which `transform` returns it as it is. Default: it may change any record. */
  readonly transformedBy?: ReadonlyArray<string>
  /** `transform` makes records with other fields than those sent, so the settings cannot keep single ones out. */
  readonly isReshaped?: true
  /** Columns that identify a row in its location. Default: `id`. */
  readonly key?: ReadonlyArray<string>
  /** Boolean column by which the service marks deleted records. */
  readonly tombstone?: string
  /** Timestamp column: once this time has passed, a row that is no longer returned is over. */
  readonly expires?: string
  /** Reads one record: for details, to confirm deletions, and for `verify --sample`. */
  readonly getOne?: GetOne
  /** The child table that the wide view of this resource shows as columns. */
  readonly wide?: Wide
  /** The setting that turns on the resource. Default: always read. */
  readonly enabledBy?: OptionalSetting
  /**
   * No account has shown it yet: it is known from a description only. Until it has given this account a row, whatever else it
   * answers means that the account does not have it.
   */
  readonly unproven?: true
  /** It is unproven, and has given this account no row; no definition has it. */
  readonly isTrial?: true
  /** The requests for each parent that add rows to its table are left out; no definition has it. */
  readonly isListAlone?: true
  /** Absent: the records are about the account, and the people who work for it, not about those it talks to. */
  readonly person?: PersonLinks
  readonly fields: Fields
  /** What the settings keep out of every store; no definition has it. */
  readonly withheld?: Withheld
  /** When its requests for each record are sent, if not by every sync. The settings decide; a definition says only `never`. */
  readonly singleReads?: SingleReads
}

/** Members that only a list has. The other kinds declare them as absent, so that code can read them from any resource. */
interface OfList {
  /** Partitions by name, or the setting that holds the names; the name replaces `{partition}`. Default: one, `all`. */
  readonly partitions?: Readonly<Record<string, Partition>> | OptionalSetting
  /**
   * If a setting names the partitions: the column that holds the name, also in the tables embedded in the pages. Only rows of
   * partitions that were read may be found deleted; without the column, none are.
   */
  readonly partitionColumn?: string
  /** Without it, every sync reads all records and compares them by hash. */
  readonly changes?: Changes
  /** Without it, only a full sync reads past periods again. */
  readonly backfill?: Backfill
  /** Needs `getOne`. */
  readonly detail?: Detail
  /** A row is deleted together with the row of `table` whose id is in `column`. */
  readonly cascadesFrom?: { readonly table: string; readonly column: string }
}
type NotOfList = { readonly [Name in keyof OfList | "full"]?: undefined }

/** A resource that is read by a list. */
export interface ListResource extends Common, OfList {
  readonly kind: "list"
  /** Strategies that read all records, best first. */
  readonly full: ReadonlyArray<Strategy>
  /** Requests for records that no list returns. */
  readonly childOf?: ChildOf
  readonly embeddedIn?: undefined
}

/** A resource that is read only for each row of another table. */
export interface ChildResource extends Common, NotOfList {
  readonly kind: "child"
  readonly childOf: ChildOf
  readonly embeddedIn?: undefined
}

/** A resource without requests of its own: its records are in the pages of `embeddedIn.table`, at the path `records`. */
export interface EmbeddedResource extends Common, NotOfList {
  readonly kind: "embedded"
  readonly childOf?: undefined
  readonly embeddedIn: { readonly table: string; readonly records: string }
}

/** The files behind the links of all other tables: its records say what became of each. */
export interface FilesResource extends Common, NotOfList {
  readonly kind: "files"
  readonly childOf?: undefined
  readonly embeddedIn?: undefined
}

export type Resource = ListResource | ChildResource | EmbeddedResource | FilesResource

export const defineList = (definition: Omit<ListResource, "kind">): ListResource => ({
  kind: "list",
  ...definition,
  fields: withCommonFields(definition.fields)
})
export const defineChild = (definition: Omit<ChildResource, "kind">): ChildResource => ({
  kind: "child",
  ...definition,
  fields: withCommonFields(definition.fields)
})
export const defineEmbedded = (definition: Omit<EmbeddedResource, "kind">): EmbeddedResource => ({
  kind: "embedded",
  ...definition,
  fields: withCommonFields(definition.fields)
})

export const defineFiles = (definition: Omit<FilesResource, "kind">): FilesResource => ({
  kind: "files",
  ...definition,
  fields: withCommonFields(definition.fields)
})

/** What the lists of social posts and the like have beside them. */
export const succeeded = { success: "true", statusCode: "ok", message: "text" } as const

/** The position in a list, as it is beside an empty one. */
export const pageNumbers = { "meta.currentPage": "number", "meta.nextPage": "null", "meta.prevPage": "any" } as const

type Listed = Pick<Strategy, "records"> & Partial<Strategy>

/** A list that is a single page. */
export const inOnePage = (request: Request, list: Listed): Strategy => ({
  request,
  paging: { kind: "once" },
  ...list,
  pageSize: 1000
})

/** A list with pages by the number of records to skip. If no maximum is documented, and so no `pageSize`, 500 are tried. */
export const byOffset = (request: Request, { records, pageSize, ...more }: Listed): Strategy => ({
  request,
  paging: { kind: "offset" },
  records,
  ...(pageSize === undefined ? { pageSize: 100, trialPageSize: 500 } : { pageSize }),
  ...more
})

/** The request for a single record, as a list of one. */
export const oneRecord = ({ request, record }: GetOne): Strategy => ({
  request,
  paging: { kind: "once" },
  records: record,
  pageSize: 1
})

/** A past period of a list that the service filters by the day on which a record was made. */
export const byDayMade = (strategy: Strategy): Backfill => ({
  dateField: "createdAt",
  strategies: [{ ...strategy, verifyField: "createdAt" }],
  padding: "1 day"
})

/** Whether the requests of its list name the company that owns the location. */
export const hasCompanyParameter = ({ full = [] }: Resource): boolean =>
  JSON.stringify(full).includes('"placeholder":"company"')

/** The partitions of its list by name. A list without partitions has one, `all`. */
export const partitionsOf = (
  { partitions }: Resource,
  settings: OptionalSettings
): ReadonlyArray<readonly [name: string, Partition]> => {
  if (typeof partitions !== "string") return Object.entries(partitions ?? { all: {} })
  const words = settings[partitions]
  return typeof words === "object" ? words.map((word) => [word, {}]) : []
}

/**
 * Ways to ask for the total of a list of which a sync reads changes only: a total that is not the number of rows shows that
 * rows were deleted. None for a table that has rows of other lists as well.
 */
export const totalsOf = ({ changes, childOf, full = [], isListAlone }: Resource): ReadonlyArray<Strategy> =>
  changes === undefined || childOf || isListAlone ? [] : full.filter(({ total }) => total !== undefined)

/** The resource of a table that the definitions have for certain. */
export const resourceOf = (resources: ReadonlyArray<Resource>, table: string): Resource => {
  const found = resources.find((one) => one.table === table)
  if (found === undefined) throw new Error(`no definition has the table ${table}`)
  return found
}

/** An unproven resource while it has given the account no row: what a parent does not have is no error. */
export const onTrial = (resource: Resource): Resource =>
  resource.childOf === undefined
    ? { ...resource, isTrial: true }
    : ({ ...resource, isTrial: true, childOf: { ...resource.childOf, noneIsError: true } } as Resource)

/** The setting without which it is not read. */
export const settingOf = ({ enabledBy, unproven }: Resource): OptionalSetting | undefined =>
  enabledBy ?? (unproven && "further_lists")

/** The name of its backfill in state. */
export const backfillOf = (table: string): string => `${table}/backfill`

/** The records that become rows. A record of unexpected shape may make `transform` throw; it is then taken as sent. */
export const transformed = ({ transform }: Resource, record: unknown): ReadonlyArray<unknown> => {
  if (!transform) return [record]
  try {
    return transform(record)
  } catch {
    return [record]
  }
}

/** The resources whose records are in the pages of this table. */
export const embeddedResourcesOf = (resources: ReadonlyArray<Resource>, table: string): ReadonlyArray<Resource> =>
  resources.filter(({ embeddedIn }) => embeddedIn?.table === table)

/** The fields of a record, whichever request returns them. */
export const fieldsOf = ({ detail, fields }: Resource): Fields => ({ ...fields, ...detail?.fields })
