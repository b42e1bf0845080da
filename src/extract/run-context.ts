/** What every reading of a run shares. */
import type { Effect } from "effect"
import type { OptionalSettings } from "../settings/table.ts"
import type { Failure } from "../failure.ts"
import type { Step } from "../values/step.ts"

/** What a run has read so far, by resource; for those who watch it. */
export type Counts = Map<string, { pages: number; records: number }>

export interface RunContext {
  readonly counts: Counts
  /** Lengths to which the service cut pages in this run; grows while lists are read. */
  readonly cuts: Set<number>
  readonly run: string
  readonly location: string
  /** Owner of the location; known once the location is read, or from the settings. */
  company: string | undefined
  /** Waits while the load is too far behind. Readings with a live cursor do not ask. */
  readonly backpressure: Effect.Effect<void>
  /** Returns when all that was appended before is in the warehouse. */
  readonly loaded: Effect.Effect<void, Failure>
  readonly optional: OptionalSettings
  /** Share of a table's rows that may vanish at once. */
  readonly deletionShareMax: number
  /** Where files go, and the folder their paths are told from. */
  readonly folder: string
}

/** The reading of a list, or of windows of the past. */
export type Reading = Pick<Step, "since" | "checkpoints" | "capabilities" | "windows"> & {
  readonly mode: Exclude<Step["mode"], "children">
}

export const count = (counts: Counts, resource: string, records: number): void => {
  const known = counts.get(resource) ?? { pages: 0, records: 0 }
  counts.set(resource, { pages: known.pages + 1, records: known.records + records })
}
