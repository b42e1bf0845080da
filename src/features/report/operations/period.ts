/** The time that the report describes, which is that of the data and not of the clock: equal data make equal reports. */
import * as Effect from "effect/Effect"
import { lastRun, runsNewestFirst } from "../../../stores/warehouse/meta/runs.ts"
import { dayMs } from "../../../catalog/timestamps.ts"
import { byName } from "../../../values/text.ts"
import { locationNames } from "../../../stores/warehouse/locations.ts"
import { ownName } from "../mask.ts"
import { query, queryRow } from "../../../stores/warehouse/query.ts"

export type Period = NonNullable<Effect.Success<ReturnType<typeof periodOf>>>

export const daysMax = 30

/** `undefined` before the first run. */
export const periodOf = Effect.fn("report.period")(function* () {
  const run = yield* lastRun()
  if (run === undefined) return undefined
  const sync = (yield* runsNewestFirst(undefined, 20)).find(({ command }) => command !== "rebuild")
  const all = yield* queryRow(
    { runs: Number, first: Number, page: Number },
    `SELECT count(*) AS runs, epoch_ms(min(started_at)) AS first,
       (SELECT epoch_ms(max(finished_at)) FROM meta.run_resources) AS page FROM meta.runs`
  )
  const read = yield* query({ id: String }, "SELECT DISTINCT location_id AS id FROM meta.run_resources ORDER BY 1")
  const names = yield* locationNames(ownName)
  const placeOf = (location: string) => names.get(location) ?? location
  // A run that was killed has no end, but its last page has a time.
  const asOf = run.finishedAt ?? Math.max(run.startedAt, all.page)
  const last = Math.floor(asOf / dayMs)
  const first = Math.max(last - daysMax + 1, Math.min(last, Math.floor(all.first / dayMs)))
  return {
    /** The last run of any command. */
    run,
    /** The last run that read the service; a rebuild reads the vault. */
    sync,
    /** When the last run ended, or what it did last; epoch milliseconds. */
    asOf,
    /** Days since 1970 in UTC, oldest first: those of the last 30 days since the first run. */
    days: Array.from({ length: last - first + 1 }, (_, index) => first + index),
    runs: all.runs,
    /** The ids of those that were read, by their names. */
    locations: read.map(({ id }) => id).toSorted((one, other) => byName(placeOf(one), placeOf(other))),
    /** The name of a location, or its id if it has none. */
    placeOf,
    /** Of rows of several, the name of each. */
    group: read.length > 1 ? ({ location }: { readonly location: string }) => placeOf(location) : undefined
  }
})

/** SQL for the day of a column, and for the time some days before the report. */
export const dayOf = (column: string): string => `(epoch_ms(${column}) // ${dayMs})`
export const since = ({ asOf }: Period, days: number): string => `to_timestamp(${(asOf - days * dayMs) / 1000})`

/** SQL: what each resource had in each run, with a condition to which others can be added; and the part of a day in UTC. */
export const runResources = (condition: string): string => `FROM meta.run_resources\nWHERE ${condition}`
export const onDay = (day: number): string => `${dayOf("finished_at")} = ${day}`

/** As documented by the service, for each location. The limits that it reports are not stored. */
export const documentedLimits = { perDay: 200_000, burst: 100, windowMs: 10_000 }
