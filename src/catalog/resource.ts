/** A resource: what is read, how it continues, what changed means, and the tables it becomes. */
import type { Duration } from "effect"
import type { OptionalSettings } from "../settings/table.ts"
import type { BooleanSetting, OptionalSetting } from "./optional-settings.ts"
import { type Fields, withCommonFields } from "./fields.ts"
import type { Parameters } from "./request.ts"
import type { GetOne, Paging, Strategy } from "./strategy.ts"

export type { Paging, Strategy }

export interface Changes {
  /**
   * Instant of the last change, newest wins; its highest value is the watermark. Where changes are read by windows, the
   * instant that the windows go by.
   */
  readonly field: string
  /** Where `field` is missing from the records: the field used instead, and how much further back to read by it. */
  readonly fallback?: { readonly field: string; readonly overlap: Duration.Input }
  /** Time before the watermark that is read again: index lag, clock differences, late arrivals. */
  readonly overlap: Duration.Input
  /** Ways to ask only for what changed; tried in order, then the full ways, with the reason recorded. */
  readonly strategies: ReadonlyArray<Strategy>
  /**
   * Ways to ask for what was added since, tried in order after those above: the service may leave `field` out of a record
   * until it first changes.
   */
  readonly added?: ReadonlyArray<Strategy>
  /** How often a full reading is due, because the strategies above cannot see every change. */
  readonly fullEvery?: Duration.Input
}

/** How a stretch of the past is read by itself. */
export interface Backfill {
  /** Instant that its windows go by. */
  readonly dateField: string
  /** Ways to ask for one window, tried in order. */
  readonly strategies: ReadonlyArray<Strategy>
  /** Read on either side of a window, where the service filters by day in a time zone that it does not name. */
  readonly padding?: Duration.Input
}

/** When a request for each parent row is due: the row is new, or changed, or has its turn. */
export interface Refresh {
  /**
   * Column of the parent that moves with every change that matters. Without it the whole row decides, and an edited
   * definition makes every row look changed.
   */
  readonly versionColumn?: string
  /** Read again after this time even if the parent shows no change: not every change shows there. */
  readonly refreshAfter: Duration.Input
}

/** A reading for each row of another table; the row's id is the one the request names. */
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
  readonly incremental?: {
    readonly strategy: Strategy
    readonly lookback: Duration.Input
    readonly fullEvery: Duration.Input
  }
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

export const childRequestOf = (resource: Resource): ChildRequest | undefined => {
  const { table, kind, childOf, detail, getOne, tombstone } = resource
  if (childOf) return { ...childOf, kind: "children", label: kind === "child" ? table : `${table}/${childOf.table}` }
  if (!detail || !getOne) return undefined
  const strategy: Strategy = {
    request: getOne.request,
    paging: { kind: "once" },
    records: getOne.record,
    pageSize: 1
  }
  return { ...detail, kind: "detail", label: `${table}/details`, table, strategy, ...(tombstone && { tombstone }) }
}

/** A read of each record that is new or changed, by `getOne`, which completes the row. */
export interface Detail extends Refresh {
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

interface Common {
  /** Table of the records; equals the definition's file name. */
  readonly table: string
  readonly description: string
  /** Section of the API documents that describes it. */
  readonly source: string
  /** Scope that the token needs; `any` where every valid token is accepted. */
  readonly scope: string
  /** Instant of the last change, where there are no `changes`: of two copies of a record the newer one is kept. */
  readonly version?: string
  /** Records of a mixed list that belong here: those with this value in this field. */
  readonly filter?: { readonly field: string; readonly is: string }
  /** Turns a record of another shape into the records that become rows. */
  readonly transform?: (record: unknown) => ReadonlyArray<unknown>
  /** Columns that identify the row in its location. Default: `id`. */
  readonly key?: ReadonlyArray<string>
  /** Boolean column by which the service says that the record is deleted. */
  readonly tombstone?: string
  /** For details, for rows that the list no longer shows, and for `verify --sample`. */
  readonly getOne?: GetOne
  /** Makes a view with a column for each field of this child table. */
  readonly wide?: Wide
  /** Read only if this setting is set. */
  readonly enabledBy?: OptionalSetting
  readonly fields: Fields
}

/** What only a list has; declared as absent on the other kinds, so that every kind may be asked for it. */
interface OfList {
  /** Partitions of the list by name, which replaces `{partition}`; or the setting that holds the names. */
  readonly partitions?: Readonly<Record<string, Partition>> | OptionalSetting
  /** Without it, everything is read every time and compared by hash. */
  readonly changes?: Changes
  /** Without it, the past is read only as a part of everything. */
  readonly backfill?: Backfill
  /** Needs `getOne`. */
  readonly detail?: Detail
  /** Rows are deleted together with the row of that table that this column names. */
  readonly cascadesFrom?: { readonly table: string; readonly column: string }
}
type NotOfList = { readonly [Name in keyof OfList | "full"]?: undefined }

/** Read by a list. */
export interface ListResource extends Common, OfList {
  readonly kind: "list"
  /** Strategies that read everything, best first. */
  readonly full: ReadonlyArray<Strategy>
  /** Some of its records are in no list, and are read under the rows of another table. */
  readonly childOf?: ChildOf
  readonly embeddedIn?: undefined
}

/** Read under the rows of another table only. */
interface ChildResource extends Common, NotOfList {
  readonly kind: "child"
  readonly childOf: ChildOf
  readonly embeddedIn?: undefined
}

/** Not read by requests of its own: its records are in the pages of another resource. */
interface EmbeddedResource extends Common, NotOfList {
  readonly kind: "embedded"
  readonly childOf?: undefined
  readonly embeddedIn: { readonly table: string; readonly records: string }
}

export type Resource = ListResource | ChildResource | EmbeddedResource

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

/** Whether its list is asked for by the company that owns the location. */
export const asksForCompany = ({ full = [] }: Resource): boolean =>
  JSON.stringify(full).includes('"placeholder":"company"')

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
