/** The state of everything that a sync reads: each list, and the children or details of each table, per location. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type ChildRequest, type Resource, childRequestOf } from "../../catalog/resource.ts"
import { dayMs } from "../../catalog/timestamps.ts"
import { completeRuns, lastReadings, loadedLocations } from "../../stores/warehouse/meta/run-resources.ts"
import { completeReadings } from "../../stores/warehouse/meta/watermarks.ts"

export type ReadingStatus = Effect.Success<ReturnType<typeof readingStatuses>>[number]

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

/** The age that a limit applies to, in milliseconds: of the rows, less the time for which an unchanged parent vouches for them. */
export const ageOf = ({ checkedAt, completeAt, unchangedMs }: ReadingStatus, now: number): number | undefined => {
  if (completeAt === undefined) return undefined
  const age = now - completeAt
  return unchangedMs === 0 ? age : Math.max(now - (checkedAt ?? completeAt), age - unchangedMs)
}

/** Of the given locations and of those that were read; of the resources that the settings and flags select. */
export const readingStatuses = Effect.fn("plan.readingStatuses")(function* (
  resources: ReadonlyArray<Resource>,
  locations: ReadonlyArray<string>
) {
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
    labels.map((resource) => {
      const key = keyOf({ location, resource })
      const { completeAt, soughtAt } = complete.get(key) ?? {}
      return {
        location,
        /** A resource, or the label of its children or details. */
        resource,
        state: last.get(key)?.status ?? ("never" as const),
        /** The end of the last complete reading; of children, when those of the least recently fetched parent were fetched. */
        completeAt,
        /** Of a list: when deleted rows were last looked for. */
        soughtAt,
        /** When a run last found that nothing more was due; epoch milliseconds. */
        checkedAt: checked.get(key),
        /** How long the children of an unchanged parent are not requested again, in milliseconds; 0 if only their age counts. */
        unchangedMs: unchanged.get(resource) ?? 0,
        /** What the last run that read it did. */
        last: last.get(key)
      }
    })
  )
})
