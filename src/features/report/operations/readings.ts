/** How completely and how recently each resource was read: the latest reading of each, the least complete first. */
import * as Effect from "effect/Effect"
import { type BegunState, begunStates, toneOf } from "../../../values/state.ts"
import { lastReadings } from "../../../stores/warehouse/meta/run-resources.ts"
import { completeReadings } from "../../../stores/warehouse/meta/watermarks.ts"
import { literal } from "../../../stores/warehouse/sql.ts"
import type { Mark } from "../../../pages/charts.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { type Period, dayOf, since } from "./period.ts"

export type Readings = Effect.Success<ReturnType<typeof readingsOf>>
export type Reading = Readings["shown"][number]

/** One location has at most a reading for each resource and for its children. */
const shownMax = ({ locations }: Period): number => (locations.length === 1 ? 150 : 50)

/** `wanted`: the locations of the settings; none if they are not known, or name none that was read. */
export const readingsOf = Effect.fn("report.readings")(function* (period: Period, wanted: ReadonlyArray<string>) {
  const complete = yield* completeReadings()
  const completeAt = new Map(complete.map((one) => [keyOf(one), one.completeAt]))
  const isNamed = period.locations.some((location) => wanted.includes(location))
  const all = (yield* lastReadings())
    .filter(({ location }) => !isNamed || wanted.includes(location))
    .map((last) => ({ ...last, state: last.status, completeAt: completeAt.get(keyOf(last)) }))
    .toSorted(
      (one, other) =>
        begunStates.indexOf(other.state) - begunStates.indexOf(one.state) ||
        (one.completeAt ?? 0) - (other.completeAt ?? 0)
    )
  const shown = all.slice(0, shownMax(period))
  const marks = yield* marksOf(period, shown)
  const ends = all.flatMap((one) => one.completeAt ?? [])
  const sought = complete.flatMap((one) => one.soughtAt ?? [])
  return {
    all,
    /** All of one location, or the worst of several; with a mark for each day of the period. */
    shown: shown.map((one) => ({
      ...one,
      days: period.days.map((day): Mark => marks.get(`${keyOf(one)}\n${day}`) ?? "none")
    })),
    total: all.length,
    countOf: (state: BegunState) => all.filter((one) => one.state === state).length,
    /** The end of the oldest complete reading; epoch milliseconds. */
    oldest: ends.length === 0 ? undefined : Math.min(...ends),
    /** The time since which deleted rows were looked for in every list; epoch milliseconds. */
    soughtSince: sought.length === 0 ? undefined : Math.min(...sought)
  }
})

interface Key {
  readonly location: string
  readonly resource: string
}
const keyOf = ({ location, resource }: Key): string => `${location}\n${resource}`

/** The state of the last reading of each day. */
const marksOf = Effect.fnUntraced(function* (period: Period, readings: ReadonlyArray<Key>) {
  if (readings.length === 0) return new Map<string, Mark>()
  const keys = readings.map(({ location, resource }) => `(${literal(location)}, ${literal(resource)})`)
  const rows = yield* query(
    { location: String, resource: String, day: Number, mark: (state): Mark => toneOf(String(state)) ?? "none" },
    `SELECT location_id AS location, resource, ${dayOf("finished_at")} AS day, arg_max(coalesce(status, 'interrupted'), run_id) AS mark
     FROM meta.run_resources SEMI JOIN (VALUES ${keys.join(", ")}) AS shown (location_id, resource) USING (location_id, resource)
     WHERE finished_at > ${since(period, 31)} AND mode IS DISTINCT FROM 'window' GROUP BY ALL`
  )
  return new Map(rows.map((row) => [`${keyOf(row)}\n${row.day}`, row.mark]))
})
