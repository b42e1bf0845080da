/** How completely and how recently each resource was read: the latest reading of each, the least complete first. */
import * as Effect from "effect/Effect"
import type { Failure } from "../../../values/failure.ts"
import type { Reason } from "../../../values/reason.ts"
import { reasonColumns, reasonsIn } from "../../../stores/warehouse/meta/run-resources.ts"
import { literal, numberOf } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import type { Mark } from "../charts.ts"
import { type Period, dayOf, since } from "./period.ts"

export type State = "complete" | "complete_with_warnings" | "incomplete" | "interrupted"

export interface Reading {
  readonly location: string
  readonly resource: string
  readonly state: State
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
  readonly byState: Readonly<Record<State, number>>
  readonly oldest: number | undefined
}

/** One location has at most a reading for each resource and for its children. */
const shownMax = ({ locationCount }: Period): number => (locationCount === 1 ? 150 : 50)

const latest = `(SELECT location_id, resource, coalesce(arg_max(coalesce(status, 'interrupted'), run_id), 'interrupted') AS state, max(run_id) AS run_id
  FROM meta.run_resources AS r
  WHERE mode IS DISTINCT FROM 'window'
    AND NOT (mode IS NULL AND run_id IN (SELECT run_id FROM meta.runs WHERE command = 'backfill'))
  GROUP BY ALL)`
const states = ["interrupted", "incomplete", "complete_with_warnings", "complete"] as const

export const readingsOf = Effect.fn("report.readings")(function* (
  period: Period
): Effect.fn.Return<Readings, Failure, Warehouse> {
  const warehouse = yield* Warehouse
  const counts = yield* warehouse.rows(
    `SELECT state, count(*) AS n, epoch_ms(min(w.complete_at)) AS oldest
     FROM ${latest} LEFT JOIN meta.watermarks AS w USING (location_id, resource) GROUP BY ALL`
  )
  const rows = yield* warehouse.rows(
    `SELECT l.location_id, l.resource, l.state, epoch_ms(w.complete_at) AS complete_at,
       ${reasonColumns}
     FROM ${latest} AS l LEFT JOIN meta.watermarks AS w USING (location_id, resource)
       JOIN meta.run_resources AS r USING (location_id, resource, run_id)
     ORDER BY list_position([${states.map(literal).join(", ")}], l.state), w.complete_at NULLS FIRST, l.location_id, l.resource
     LIMIT ${shownMax(period)}`
  )
  const days = yield* daysOf(
    period,
    rows.map((row) => [String(row["location_id"]), String(row["resource"])])
  )
  const countOf = (state: State) => Number(counts.find((row) => row["state"] === state)?.["n"] ?? 0)
  const ends = counts.flatMap((row) => numberOf(row["oldest"] ?? null) ?? [])
  return {
    shown: rows.map((row) => ({
      location: String(row["location_id"]),
      resource: String(row["resource"]),
      state: row["state"] as State, // One of `states`.
      reasons: reasonsIn(row),
      completeAt: numberOf(row["complete_at"] ?? null),
      days: days(String(row["location_id"]), String(row["resource"]))
    })),
    total: counts.reduce((sum, row) => sum + Number(row["n"]), 0),
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
  readings: ReadonlyArray<readonly [location: string, resource: string]>
): Effect.fn.Return<(location: string, resource: string) => ReadonlyArray<Mark>, Failure, Warehouse> {
  const marks = new Map<string, Mark>()
  const keys = readings.map((key) => `(${key.map(literal).join(", ")})`)
  const rows =
    keys.length === 0
      ? []
      : yield* (yield* Warehouse).rows(
          `SELECT location_id, resource, ${dayOf("finished_at")} AS day, arg_max(coalesce(status, 'interrupted'), run_id) AS state
           FROM meta.run_resources SEMI JOIN (VALUES ${keys.join(", ")}) AS shown (location_id, resource) USING (location_id, resource)
           WHERE finished_at > ${since(period, 31)} AND mode IS DISTINCT FROM 'window' GROUP BY ALL`
        )
  for (const row of rows)
    marks.set(`${row["location_id"]}\n${row["resource"]}\n${row["day"]}`, markOf[row["state"] as State])
  return (location, resource) => period.days.map((day) => marks.get(`${location}\n${resource}\n${day}`) ?? "none")
})

const markOf: Readonly<Record<State, Mark>> = {
  complete: "complete",
  complete_with_warnings: "warning",
  incomplete: "problem",
  interrupted: "problem"
}
