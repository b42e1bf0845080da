/** How completely and how recently each resource was read: the latest reading of each, the least complete first. */
import * as Effect from "effect/Effect"
import type { Failure } from "../../../values/failure.ts"
import type { Reason } from "../../../values/reason.ts"
import { type BegunState, begunStates, toneOf } from "../../../values/state.ts"
import { lastReadings } from "../../../stores/warehouse/meta/run-resources.ts"
import { completeReadings } from "../../../stores/warehouse/meta/watermarks.ts"
import { literal } from "../../../stores/warehouse/sql.ts"
import type { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import type { Mark } from "../../../values/charts.ts"
import { query } from "../query.ts"
import { type Period, dayOf, since } from "./period.ts"

export interface Reading {
  readonly location: string
  readonly resource: string
  readonly state: BegunState
  readonly reasons: ReadonlyArray<Reason>
  /** The end of the last complete reading; epoch milliseconds. */
  readonly completeAt: number | undefined
  /** For each day of the period. */
  readonly days: ReadonlyArray<Mark>
}

export interface Readings {
  /** The readings that are shown: all of one location, or the worst of several. */
  readonly shown: ReadonlyArray<Reading>
  readonly total: number
  readonly byState: Readonly<Record<BegunState, number>>
  readonly oldest: number | undefined
}

/** One location has at most a reading for each resource and for its children. */
const shownMax = ({ locationCount }: Period): number => (locationCount === 1 ? 150 : 50)

export const readingsOf = Effect.fn("report.readings")(function* (period: Period) {
  const keyOf = ({ location, resource }: { readonly location: string; readonly resource: string }) =>
    `${location}\n${resource}`
  const completeAt = new Map((yield* completeReadings()).map((one) => [keyOf(one), one.completeAt]))
  const all = (yield* lastReadings())
    .map((last) => ({ ...last, state: last.status, completeAt: completeAt.get(keyOf(last)) }))
    .toSorted(
      (one, other) =>
        begunStates.indexOf(other.state) - begunStates.indexOf(one.state) ||
        (one.completeAt ?? 0) - (other.completeAt ?? 0)
    )
  const shown = all.slice(0, shownMax(period))
  const days = yield* daysOf(period, shown)
  const countOf = (state: BegunState) => all.filter((one) => one.state === state).length
  const ends = all.flatMap((one) => one.completeAt ?? [])
  return {
    shown: shown.map(({ location, resource, state, reasons, completeAt }) => ({
      location,
      resource,
      state,
      reasons,
      completeAt,
      days: days(location, resource)
    })),
    total: all.length,
    byState: {
      complete: countOf("complete"),
      complete_with_warnings: countOf("complete_with_warnings"),
      incomplete: countOf("incomplete"),
      interrupted: countOf("interrupted")
    },
    oldest: ends.length === 0 ? undefined : Math.min(...ends)
  }
})

/** The state of the last reading of each day. */
const daysOf = Effect.fnUntraced(function* (
  period: Period,
  readings: ReadonlyArray<{ readonly location: string; readonly resource: string }>
): Effect.fn.Return<(location: string, resource: string) => ReadonlyArray<Mark>, Failure, Warehouse> {
  const keys = readings.map(({ location, resource }) => `(${literal(location)}, ${literal(resource)})`)
  if (keys.length === 0) return () => []
  const found = yield* query(
    { location: String, resource: String, day: Number, mark: (state): Mark => toneOf(String(state)) ?? "none" },
    `SELECT location_id AS location, resource, ${dayOf("finished_at")} AS day, arg_max(coalesce(status, 'interrupted'), run_id) AS mark
     FROM meta.run_resources SEMI JOIN (VALUES ${keys.join(", ")}) AS shown (location_id, resource) USING (location_id, resource)
     WHERE finished_at > ${since(period, 31)} AND mode IS DISTINCT FROM 'window' GROUP BY ALL`
  )
  const marks = new Map(found.map(({ location, resource, day, mark }) => [`${location}\n${resource}\n${day}`, mark]))
  return (location, resource) => period.days.map((day) => marks.get(`${location}\n${resource}\n${day}`) ?? "none")
})
