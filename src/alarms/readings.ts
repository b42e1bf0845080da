/** What is wanted, each with what the runs found: every list, and the children or details of each table, per location. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type ChildRequest, type Resource, childRequestOf } from "../catalog/resource.ts"
import { dayMs } from "../catalog/timestamps.ts"
import { completeRuns, lastReadings, loadedLocations } from "../stores/warehouse/meta/run-resources.ts"
import { completeReadings } from "../stores/warehouse/meta/watermarks.ts"
import type { Reading } from "./reading.ts"

/** What the settings ask for. */
export interface Wanted {
  /** Those that are read, with the resources that are embedded in their pages. */
  readonly resources: ReadonlyArray<Resource>
  /** Empty if the settings name none. */
  readonly locations: ReadonlyArray<string>
}

/** The labels of its readings. What is embedded in another list is read as well. */
export const labelsOf = (resource: Resource): ReadonlyArray<string> => {
  const childRequest = childRequestOf(resource)
  return [...(resource.kind === "child" ? [] : [resource.table]), ...(childRequest ? [childRequest.label] : [])]
}

/** What is read at most daily is read because of its age; the rest also when its parent changes. */
const unchangedMsOf = ({ refreshAfter }: ChildRequest): number => {
  const ms = Duration.toMillis(refreshAfter)
  return ms < dayMs ? 0 : ms
}

/** Of the locations that the settings name; of those that were read if they name none. */
export const readingsOf = Effect.fn("alarms.readings")(function* ({ locations, resources }: Wanted) {
  const keyOf = ({ location, resource }: { readonly location: string; readonly resource: string }) =>
    `${location}\n${resource}`
  const last = new Map((yield* lastReadings()).map((one) => [keyOf(one), one]))
  const complete = new Map((yield* completeReadings()).map((one) => [keyOf(one), one]))
  const checked = new Map((yield* completeRuns()).map((one) => [keyOf(one), one.checkedAt]))
  const unchanged = new Map(
    resources.flatMap((resource) => {
      const request = childRequestOf(resource)
      return request ? [[request.label, unchangedMsOf(request)] as const] : []
    })
  )
  const all = locations.length > 0 ? locations : yield* loadedLocations()
  const labels = [...new Set(resources.flatMap(labelsOf))].sort()
  return all.flatMap((location) =>
    labels.map((resource): Reading => {
      const key = keyOf({ location, resource })
      const { completeAt, soughtAt } = complete.get(key) ?? {}
      return {
        location,
        resource,
        state: last.get(key)?.status ?? "never",
        reasons: last.get(key)?.reasons ?? [],
        completeAt,
        soughtAt,
        checkedAt: checked.get(key),
        unchangedMs: unchanged.get(resource) ?? 0,
        last: last.get(key)
      }
    })
  )
})
