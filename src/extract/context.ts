/** What every reading of a run shares. */
import type { Effect } from "effect"
import type { Window } from "../catalog/instants.ts"
import type { Asked } from "../catalog/asked.ts"
import type { Failure } from "../failure.ts"

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
  readonly asked: Asked
  /** Share of a table's rows that may vanish at once. */
  readonly deletionShareMax: number
  /** Where files go, and the folder their paths are told from. */
  readonly folder: string
}

/** One resource to read, as the plan decided. */
export interface Reading {
  /** `window`: a stretch of the past, whatever else is known. */
  readonly mode: "full" | "changed" | "window"
  /** Watermark less overlap, epoch milliseconds. */
  readonly since?: number
  /** Passes a run before us began and did not finish, by name. */
  readonly begun: Readonly<Record<string, unknown>>
  /** What earlier runs found out about this account; see `Findings`. */
  readonly findings: unknown
  /** In mode `window`: what is to be read, in this order; epoch milliseconds. */
  readonly windows?: ReadonlyArray<Window>
}

export interface Findings {
  /** Page sizes that were found to be the largest, by way. */
  readonly sizes: Readonly<Record<string, number>>
  /** Fingerprints of ways that do not work here. */
  readonly refused: ReadonlyArray<string>
  /** Ways whose totals count more records than they show. */
  readonly loose: ReadonlyArray<string>
  /** Records without a moment of change, in the last reading of everything. */
  readonly undated: number
}
/** As written at the end of an earlier reading. */
export const findingsOf = (known: unknown): Findings => ({
  sizes: {},
  refused: [],
  loose: [],
  undated: 0,
  ...(known as Findings | undefined)
})

export const count = (counts: Counts, resource: string, records: number): void => {
  const known = counts.get(resource) ?? { pages: 0, records: 0 }
  counts.set(resource, { pages: known.pages + 1, records: known.records + records })
}
