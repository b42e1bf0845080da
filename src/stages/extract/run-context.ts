/** State that all readings of a run share. */
import type { Effect } from "effect"
import type { Shapes } from "../../catalog/beside.ts"
import type { Resource } from "../../catalog/resource.ts"
import type { OptionalSettings } from "../../catalog/optional-settings.ts"
import type { OutputSettings } from "../../settings/settings.ts"
import type { Capabilities } from "../../values/capabilities.ts"
import type { Failure } from "../../values/failure.ts"
import type { Status } from "../../values/state.ts"
import type { Step } from "../../values/step.ts"

/** What a run has read of a location so far, by resource or label of children; for the progress display and the log. */
export type Counts = Map<string, Count>
interface Count {
  readonly pages: number
  readonly records: number
  /** The totals that the service has reported for the lists of the reading, by partition. */
  readonly totals?: Readonly<Record<string, number>>
  /** Once the reading has ended. */
  readonly status?: Status
}

/** What the service says about one record. A refusal says something only beside that of an id that was never issued. */
export type Answer = "exists" | "flagged as deleted" | "unknown" | { readonly refusal: string }

/** Each answer is certain if it saves a query, and else says that a query is needed. */
export interface Known {
  /** How many batches of this run have changed the table. */
  readonly commitsOf: (table: string, location: string) => number
  /** Whether the full reading of the table has returned every live row. */
  readonly hasSeenAll: (table: string, location: string) => boolean
  /** Whether no row of the table is deleted. */
  readonly hasNoDeleted: (table: string, location: string) => boolean
  /** Whether readings of the children with this label have not returned some stored row. */
  readonly hasMissing: (location: string, label: string) => boolean
}

export interface RunContext {
  readonly counts: Counts
  /** Page lengths to which the service cut lists in this run; grows while lists are read. */
  readonly cuts: Set<number>
  readonly run: string
  readonly location: string
  /** Owner of the location, from the settings or once the location has been read. */
  company: string | undefined
  /** Waits while the load is too far behind. Readings with a live cursor skip it. */
  readonly backpressure: Effect.Effect<void>
  /** Returns when all pages appended before are in the warehouse. */
  readonly loaded: Effect.Effect<void, Failure>
  /** Ends with the next batch that is committed. Take it before you look at `known`, so that none is missed in between. */
  readonly nextCommit: () => Effect.Effect<void>
  /** What the loaded pages show of the warehouse without a query. */
  readonly known: Known
  /** With the objects of the location, once they have been read. */
  optional: OptionalSettings
  /** Whether the objects are those that the service lists, and not those of the settings. */
  hasListedObjects?: boolean
  /** Every resource of the catalogue: also of tables that the run does not read. */
  readonly resources: ReadonlyArray<Resource>
  /** Share of a table's rows that the run may mark as deleted. */
  readonly deletionShareMax: number
  /** Rows that it has marked as deleted so far, by table, other than children of rows deleted earlier. */
  readonly removed: Map<string, number>
  /** Tables whose list this run reads in full. */
  readonly readInFull: Set<string>
  /** Partitions that the settings name and the service does not have, by table. */
  readonly missingPartitions: Map<string, ReadonlySet<string>>
  /** What stands beside the lists, by request. */
  readonly shapes: Map<string, Shapes>
  /** What the service has said about single records, by the path of the definition and the id. */
  readonly answers: Map<string, Answer>
  /** Where files are stored; their paths are relative to it. */
  readonly folder: string
  readonly files: OutputSettings["files"]
}

/** Whether the parts of a list are the objects that the service lists. */
export const isOfListedObjects = ({ partitions }: Pick<Resource, "partitions">, context: RunContext): boolean =>
  partitions === "object_keys" && context.hasListedObjects === true

/** The reading of a list or of backfill windows. */
export type Reading = Pick<Step, "since" | "checkpoints" | "capabilities" | "windows"> & {
  readonly mode: Exclude<Step["mode"], "children">
}

/** What stands beside the lists of these strategies, for later runs. */
export const besideOf = ({ shapes }: RunContext, names: ReadonlyArray<string>): NonNullable<Capabilities["beside"]> =>
  Object.fromEntries([...shapes].flatMap(([name, { stored }]) => (names.includes(name) ? [[name, stored]] : [])))

const nothing: Count = { pages: 0, records: 0 }

/** Counts a page. `totals`: what the service reports for the list, by partition. */
export const count = (counts: Counts, resource: string, records: number, totals: Count["totals"] = {}): void => {
  const sums = counts.get(resource) ?? nothing
  counts.set(resource, {
    pages: sums.pages + 1,
    records: sums.records + records,
    totals: { ...sums.totals, ...totals }
  })
}

export const begin = (counts: Counts, resource: string): void => void counts.set(resource, nothing)

/** Returns the final counts. */
export const end = (counts: Counts, resource: string, status: Status): Count => {
  const ended = { ...(counts.get(resource) ?? nothing), status }
  counts.set(resource, ended)
  return ended
}
