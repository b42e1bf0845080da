/** One resource to read in a run: the plan decides it, extract executes it. Times are epoch milliseconds. */
import type { Resource } from "../catalog/resource.ts"
import type { Window } from "../catalog/timestamps.ts"
import type { Capabilities } from "./capabilities.ts"
import type { Checkpoint } from "./checkpoint.ts"

export interface Step {
  readonly resource: Resource
  /** Resources whose records are embedded in its pages. */
  readonly embedded: ReadonlyArray<Resource>
  /** `children`: only the children of parents that are due. `window`: time windows of a backfill. */
  readonly mode: "full" | "incremental" | "children" | "window"
  /** In mode `window`: the windows, in the order in which they are read. */
  readonly windows?: ReadonlyArray<Window>
  /** Watermark less its overlap. */
  readonly since?: number
  /** Checkpoints of lists that an earlier run did not finish, by partition. */
  readonly checkpoints: Readonly<Record<string, Checkpoint>>
  /** Children fetched before this time are fetched again. */
  readonly refreshCutoff: number | undefined
  /** What was known of the parents of its children or details when the plan was made. */
  readonly parents?: ParentsState
  /** What earlier runs learnt about the requests of the list. */
  readonly capabilities: Capabilities
  /** What earlier runs learnt about the requests of the children or details. */
  readonly childCapabilities: Capabilities | undefined
  /** When it was requested last, to no avail, if that is not long ago: it is not requested now. */
  readonly restsSince?: number
}

export interface ParentsState {
  /** Parents whose children or details are due. */
  readonly due: number
  /** When those of the least recently fetched parent were fetched; `undefined` without parents. */
  readonly oldestFetch: number | undefined
}
