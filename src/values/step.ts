/** One resource to read in a run: what the plan decides, and extract does. Times are epoch milliseconds. */
import type { Resource } from "../catalog/resource.ts"
import type { Window } from "../catalog/timestamps.ts"
import type { Capabilities } from "./capabilities.ts"
import type { Checkpoint } from "./checkpoint.ts"

export interface Step {
  readonly resource: Resource
  /** Resources whose records are in its pages. */
  readonly embedded: ReadonlyArray<Resource>
  /** `children`: only what is due under parent rows. `window`: a range of the past, whatever else is known. */
  readonly mode: "full" | "incremental" | "children" | "window"
  /** In mode `window`: what is to be read, in this order. */
  readonly windows?: ReadonlyArray<Window>
  /** Watermark less its overlap. */
  readonly since?: number
  /** Of lists that an earlier run did not read to their end, by partition. */
  readonly checkpoints: Readonly<Record<string, Checkpoint>>
  /** Children that were fetched before this time are fetched again. */
  readonly refreshCutoff: number | undefined
  /** What earlier runs learnt about reading the list, and the children, of this account. */
  readonly capabilities: Capabilities
  readonly childCapabilities: Capabilities | undefined
  /** Requests that the step will take, as far as earlier runs let us know. */
  readonly requests: number | undefined
}
