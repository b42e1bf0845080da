/** What the runs found of one thing that is wanted: a list, or the children or details of a table, of a location. */
import type { Reason } from "../values/reason.ts"
import type { RunResource } from "../values/run-resource.ts"
import type { BegunState } from "../values/state.ts"

/** Times are epoch milliseconds. */
export interface Reading {
  readonly location: string
  /** A resource, or the label of its children or details. */
  readonly resource: string
  readonly state: BegunState | "never"
  /** Why it is in this state; the most severe reason first. */
  readonly reasons: ReadonlyArray<Reason>
  /** The end of the last complete reading; of children, when those of the least recently fetched parent were fetched. */
  readonly completeAt?: number | undefined
  /** Of a list: when deleted rows were last looked for. */
  readonly soughtAt?: number | undefined
  /** When a run last found that nothing more was due. */
  readonly checkedAt?: number | undefined
  /** How long the children of an unchanged parent are not requested again, in milliseconds; 0 if only their age counts. */
  readonly unchangedMs: number
  /** What the last run did that was to read it. */
  readonly last?: RunResource | undefined
}

/** The age that a limit applies to, in milliseconds: of the rows, less the time for which an unchanged parent vouches for them. */
export const ageOf = (
  { checkedAt, completeAt, unchangedMs }: Pick<Reading, "checkedAt" | "completeAt" | "unchangedMs">,
  now: number
): number | undefined => {
  if (completeAt === undefined) return undefined
  const age = now - completeAt
  return unchangedMs === 0 ? age : Math.max(now - (checkedAt ?? completeAt), age - unchangedMs)
}
