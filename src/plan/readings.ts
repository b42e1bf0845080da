/** The state of everything that a sync reads: each list, and the children or details of each table, per location. */
import * as Effect from "effect/Effect"
import { type Resource, childRequestOf } from "../catalog/resource.ts"
import type { Failure } from "../failure.ts"
import { unfinishedLists } from "../warehouse/meta/checkpoints.ts"
import type { RunResource } from "../values/run-resource.ts"
import { lastReadings, loadedLocations } from "../warehouse/meta/run-resources.ts"
import { existingMetaTables } from "../warehouse/meta/tables.ts"
import { completeReadings } from "../warehouse/meta/watermarks.ts"
import { Warehouse } from "../warehouse/warehouse.ts"

/** `never`: no run has read it. `interrupted`: the last run that read it did not end, or is still working. */
export type ReadingState = RunResource["status"] | "never"

export interface ReadingStatus {
  readonly location: string
  /** A resource, or the label of its children or details. */
  readonly resource: string
  readonly state: ReadingState
  /** The end of the last complete reading; epoch milliseconds. */
  readonly completeAt: number | undefined
  /** What the last run that read it did. */
  readonly last: (RunResource & { readonly run: string }) | undefined
}

/** The labels under which the requests of a resource are counted. */
export const labelsOf = (resource: Resource): ReadonlyArray<string> => {
  const childRequest = childRequestOf(resource)
  return [...(resource.kind === "list" ? [resource.table] : []), ...(childRequest ? [childRequest.label] : [])]
}

/** Of the given locations and of those that were read; of the resources that the settings and flags select. */
export const readingStatuses = Effect.fn("plan.readingStatuses")(function* (
  resources: ReadonlyArray<Resource>,
  locations: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<ReadingStatus>, Failure, Warehouse> {
  const keyOf = ({ location, resource }: { readonly location: string; readonly resource: string }) =>
    `${location}\n${resource}`
  const last = new Map((yield* lastReadings()).map((one) => [keyOf(one), one]))
  const complete = new Map((yield* completeReadings()).map((one) => [keyOf(one), one.completeAt]))
  // A release has no checkpoints.
  const hasCheckpoints = (yield* existingMetaTables(yield* Warehouse)).has("checkpoints")
  const unfinished = new Set(hasCheckpoints ? (yield* unfinishedLists()).map(keyOf) : [])
  const all = locations.length > 0 ? locations : yield* loadedLocations()
  const labels = [...new Set(resources.flatMap(labelsOf))].sort()
  return all.flatMap((location) =>
    labels.map((resource): ReadingStatus => {
      const key = keyOf({ location, resource })
      const completeAt = complete.get(key)
      const ended = last.get(key)?.status
      const state = unfinished.has(key) && ended !== "incomplete" ? "interrupted" : (ended ?? "never")
      return { location, resource, state, completeAt, last: last.get(key) }
    })
  )
})
