/** Section: what the requests were spent on, against the limits of the service. */
import * as Effect from "effect/Effect"
import { literal } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { columns, lines, ticksOf } from "../../../values/charts.ts"
import { dayMs } from "../../../catalog/timestamps.ts"
import { brief, count, counted, duration, share } from "../format.ts"
import { day } from "../../../values/moment.ts"
import { type Html, html } from "../../../values/html.ts"
import { bar, numbersOf, section, tableOf } from "../table.ts"
import { type Period, dayOf, daysMax, since } from "./period.ts"

/** As documented by the service, for each location. The limits that it reports are not stored. */
export const documentedLimits = { perDay: 200_000, burst: 100, windowMs: 10_000 }

interface Cost {
  readonly resource: string
  readonly lastDay: number
  readonly period: number
}

export interface Requests {
  /** By day of the period, all locations. */
  readonly byDay: ReadonlyArray<number>
  /** The most requests of one location in a day. */
  readonly busiest: number
  readonly costs: ReadonlyArray<Cost>
  /** Of the last sync: when each reading ended, milliseconds after the start, with the requests so far. */
  readonly course: ReadonlyArray<{ readonly ms: number; readonly requests: number; readonly resource: string }>
}

export const requestsOf = Effect.fn("report.requests")(function* (period: Period) {
  const warehouse = yield* Warehouse
  const from = since(period, 31)
  const days = yield* warehouse.rows(
    `SELECT day, sum(n)::BIGINT AS n, max(n) AS busiest FROM (
       SELECT location_id, ${dayOf("finished_at")} AS day, sum(requests)::BIGINT AS n FROM meta.run_resources
       WHERE finished_at > ${from} GROUP BY ALL) GROUP BY ALL`
  )
  const costs = yield* warehouse.rows(
    `SELECT resource, sum(requests)::BIGINT AS period, coalesce(sum(requests) FILTER (finished_at > ${since(period, 1)}), 0)::BIGINT AS last_day
     FROM meta.run_resources WHERE finished_at > ${from} GROUP BY ALL HAVING sum(requests) > 0 ORDER BY last_day DESC, period DESC, resource`
  )
  const course = period.sync
    ? yield* warehouse.rows(
        `SELECT resource, epoch_ms(finished_at) AS at, requests FROM meta.run_resources
         WHERE run_id = ${literal(period.sync.id)} AND requests > 0 AND finished_at IS NOT NULL ORDER BY finished_at, resource LIMIT 5000`
      )
    : []
  let sent = 0
  const nOf = (one: number) => days.find((row) => Number(row["day"]) === one)
  return {
    byDay: period.days.map((one) => Number(nOf(one)?.["n"] ?? 0)),
    busiest: Math.max(0, ...days.map((row) => Number(row["busiest"]))),
    costs: costs.map((row) => ({
      resource: String(row["resource"]),
      lastDay: Number(row["last_day"]),
      period: Number(row["period"])
    })),
    course: course.map((row) => {
      sent += Number(row["requests"])
      return {
        ms: Math.max(0, Number(row["at"]) - period.sync!.startedAt),
        requests: sent,
        resource: String(row["resource"])
      }
    })
  }
})

export const requestsSection = (period: Period, { byDay, busiest, costs, course }: Requests): Html => {
  const days = period.days.map((one) => day(one * dayMs))
  const highest = Math.max(0, ...costs.map(({ lastDay }) => lastDay))
  const all = costs.reduce((sum, { lastDay }) => sum + lastDay, 0)
  const { perDay } = documentedLimits
  return section({
    id: "requests",
    title: "Requests",
    lead: `The busiest day took ${counted(busiest, "request")}${period.locationCount > 1 ? " of one location" : ""}, ${share(busiest, perDay)} of the ${count(perDay)} that the service documents for a day and location.`,
    content: html`<div class="pair">
        <div>
          <h4>By day</h4>
          ${columns(
            byDay.map((value, index) => ({ text: `${days[index]}: ${counted(value, "request")}`, value })),
            {
              title: "Requests by day",
              description: `Between ${counted(Math.min(...byDay), "request")} and ${counted(Math.max(...byDay), "request")} a day.`,
              unit: `Requests${busiest >= perDay / 10 ? "; the line is the daily limit" : ""}`,
              format: brief,
              limit: period.locationCount > 1 ? undefined : perDay,
              slots: daysMax,
              ticks: ticksOf(days, "columns", daysMax)
            }
          )}
          ${numbersOf({
            id: "requests-by-day",
            caption: "Requests by day",
            rows: byDay.map((value, index) => ({ value, text: days[index]! })),
            columns: [
              { head: "Day, UTC", cell: ({ text }) => text },
              { head: "Requests", kind: "number", cell: ({ value }) => count(value) },
              {
                head: "Of the daily limit",
                kind: "number",
                cell: ({ value }) => share(value, perDay * period.locationCount)
              }
            ]
          })}
        </div>
        <div>
          <h4>Course of the last sync</h4>
          ${courseOf(period, course)}
        </div>
      </div>
      <h4>What they were spent on</h4>
      ${tableOf({
        id: "costs",
        caption: "Resources by their requests",
        rows: costs,
        folded: 12,
        columns: [
          { head: "Resource", cell: ({ resource }) => resource },
          { head: "Requests, 24 h", kind: "number", cell: ({ lastDay }) => count(lastDay) },
          { head: "Share", kind: "number", cell: ({ lastDay }) => share(lastDay, all) },
          { head: "Share of the last 24 h", kind: "chart", cell: ({ lastDay }) => bar(lastDay, highest) },
          { head: "Requests, 30 days", kind: "number", cell: (cost) => count(cost.period) }
        ]
      })}`
  })
}

/** Requests so far, against the fastest that the rate limit allows. */
const courseOf = ({ locationCount }: Period, course: Requests["course"]): Html => {
  const last = course.at(-1)
  if (last === undefined || last.ms === 0) return html`<p class="note">The last sync sent no requests.</p>`
  const { burst, windowMs } = documentedLimits
  // A full window may be sent at once, at the beginning.
  const allowed = (ms: number) => (burst + (burst * ms) / windowMs) * locationCount
  const top = last.requests * 1.15
  const end = Math.min(last.ms, Math.max(0, ((top / locationCount - burst) * windowMs) / burst))
  const minutes = last.ms > 180_000
  const axis = (ms: number) => (minutes ? `${brief(ms / 60_000)} min` : `${brief(ms / 1000)} s`)
  const steps = course.flatMap(({ ms, requests }, index) => [
    { x: ms / last.ms, y: course[index - 1]?.requests ?? 0 },
    { x: ms / last.ms, y: requests }
  ])
  return html`${lines(
      [
        { name: "Requests so far", kind: "area", points: [{ x: 0, y: 0 }, ...thinned(steps)] },
        {
          name: "The rate limit",
          kind: "limit",
          points: [
            { x: 0, y: Math.min(allowed(0), top) },
            { x: end / last.ms, y: Math.min(allowed(end), top) }
          ]
        }
      ],
      {
        title: "Requests so far in the last sync, against the rate limit",
        description: `${counted(last.requests, "request")} in ${duration(last.ms)}.`,
        unit: `Requests so far; the line is the rate limit, ${burst} in ${windowMs / 1000} s`,
        format: brief,
        top,
        ticks: [0, 0.5, 1].map((at) => ({ at, text: axis(at * last.ms) }))
      }
    )}
    <p class="note">
      The warehouse holds the requests of each resource and when it ended, not the time of each request, so a step
      contains all requests of a resource.
    </p>
    ${numbersOf({
      id: "course",
      caption: "Requests of the last sync when each resource ended",
      rows: course.slice(0, 100),
      columns: [
        { head: "Resource", cell: ({ resource }) => resource },
        { head: "After", kind: "number", cell: ({ ms }) => `${(ms / 1000).toFixed(1)} s` },
        { head: "Requests so far", kind: "number", cell: ({ requests }) => count(requests) }
      ]
    })}`
}

/** Enough points for a chart of any width. */
const thinned = <Point>(points: ReadonlyArray<Point>): ReadonlyArray<Point> => {
  const every = Math.ceil(points.length / 400)
  return points.filter((_, index) => index % every === 0 || index === points.length - 1)
}
