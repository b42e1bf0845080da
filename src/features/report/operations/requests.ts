/** Section: what the requests were spent on, against the limits of the service. */
import * as Effect from "effect/Effect"
import { columns, lines, ticksOf } from "../../../pages/charts.ts"
import { dayMs } from "../../../catalog/timestamps.ts"
import { brief, count, counted, duration, share } from "../format.ts"
import { day, html } from "../../../pages/html.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { bars, highestOf, number, numbersOf, sumOf, tableOf, text } from "../../../pages/html-table.ts"
import { section } from "../section.ts"
import { type Period, dayOf, daysMax, documentedLimits, onDay, runResources, since } from "./period.ts"
import { literal } from "../../../stores/warehouse/sql.ts"

/** With the requests of the last day. */
export const requestsSection = Effect.fn("report.requests")(function* (period: Period) {
  const from = since(period, 31)
  const found = yield* query(
    { day: Number, n: Number, busiest: Number },
    `SELECT day, sum(n) AS n, max(n) AS busiest FROM (
       SELECT location_id, ${dayOf("finished_at")} AS day, sum(requests) AS n FROM meta.run_resources
       WHERE finished_at > ${from} GROUP BY ALL) GROUP BY ALL`
  )
  const ofDay = `finished_at > ${since(period, 1)}`
  const costs = yield* costsByResource(period)
  const sent = sumOf(costs, ({ lastDay }) => lastDay)
  const locationCount = period.locations.length
  const { perDay } = documentedLimits
  const names = period.days.map((one) => day(one * dayMs))
  const byDay = period.days.map((one) => found.find((row) => row.day === one)?.n ?? 0)
  const days = byDay.map((value, index) => ({ day: period.days[index]!, text: names[index]!, value }))
  const requests = (n: number) => counted(n, "request")
  const busiest = highestOf(found, (row) => row.busiest)
  const content = section({
    id: "requests",
    title: "Requests",
    lead: `The busiest day took ${requests(busiest)}${locationCount > 1 ? " of one location" : ""}, ${share(busiest, perDay)} of the ${count(perDay)} that the service documents for a day and location.`,
    content: html`<div class="pair">
        <div>
          <h4>By day</h4>
          ${columns(
            days.map(({ text, value }) => ({ text: `${text}: ${requests(value)}`, value })),
            {
              title: "Requests by day",
              description: `Between ${requests(Math.min(...byDay))} and ${requests(Math.max(...byDay))} a day.`,
              unit: `Requests${busiest >= perDay / 10 ? "; the line is the daily limit" : ""}`,
              format: brief,
              limit: locationCount > 1 ? undefined : perDay,
              slots: daysMax,
              ticks: ticksOf(names, "columns", daysMax)
            }
          )}
          ${numbersOf(days, {
            id: "requests-by-day",
            caption: "Requests by day",
            behind: (one) => runResources(`requests > 0 AND ${onDay(one.day)}`),
            columns: [
              text("Day, UTC", (one) => one.text),
              number("Requests", ({ value }) => value),
              number("Of the daily limit", ({ value }) => share(value, perDay * locationCount))
            ]
          })}
        </div>
        <div>
          <h4>Course of the last sync</h4>
          ${yield* courseOfLastSync(period)}
        </div>
      </div>
      <h4>What they were spent on</h4>
      ${tableOf(costs, {
        id: "costs",
        caption: "Resources by their requests",
        folded: 12,
        behind: ({ resource }) => runResources(`requests > 0 AND resource = ${literal(resource)}`),
        columns: [
          text("Resource", ({ resource }) => resource),
          number("Requests, 24 h", ({ lastDay }) => lastDay, ofDay),
          number("Share", ({ lastDay }) => share(lastDay, sent), ofDay),
          bars("Share of the last 24 h", costs, ({ lastDay }) => lastDay),
          number("Requests, 30 days", ({ all }) => all, `finished_at > ${from}`)
        ]
      })}`
  })
  return { sent, content }
})

/** The requests of each resource in the last 30 days, and in the last of them. */
const costsByResource = (period: Period) =>
  query(
    { resource: String, lastDay: Number, all: Number },
    `SELECT resource, coalesce(sum(requests) FILTER (finished_at > ${since(period, 1)}), 0) AS lastDay, sum(requests) AS "all"
     FROM meta.run_resources WHERE finished_at > ${since(period, 31)} GROUP BY ALL HAVING sum(requests) > 0 ORDER BY lastDay DESC, "all" DESC, resource`
  )

/** The requests of the last sync so far, against the fastest that the rate limit allows. */
const courseOfLastSync = Effect.fnUntraced(function* ({ sync, locations: { length: locationCount } }: Period) {
  // When each reading ended, milliseconds after the start, with the requests so far.
  const course = sync
    ? yield* query(
        { resource: String, ms: Number, requests: Number },
        `SELECT resource, greatest(0, epoch_ms(finished_at) - ${sync.startedAt}) AS ms,
           sum(requests) OVER (ORDER BY finished_at, resource ROWS UNBOUNDED PRECEDING) AS requests
         FROM meta.run_resources WHERE run_id = ${literal(sync.id)} AND run_resources.requests > 0 AND finished_at IS NOT NULL
         ORDER BY finished_at, resource, 3 LIMIT 5000`
      )
    : []
  const last = course.at(-1)
  if (last === undefined || last.ms === 0) return html`<p class="note">The last sync sent no requests.</p>`
  const { burst, windowMs } = documentedLimits
  // A full window may be sent at once, at the beginning.
  const allowed = (ms: number) => (burst + (burst * ms) / windowMs) * locationCount
  const top = last.requests * 1.15
  const end = Math.min(last.ms, Math.max(0, ((top / locationCount - burst) * windowMs) / burst))
  const minutes = last.ms > 180_000
  const axis = (ms: number) => (minutes ? `${brief(ms / 60_000)} min` : `${brief(ms / 1000)} s`)
  const point = (ms: number, y: number) => ({ x: ms / last.ms, y })
  const steps = course.flatMap(({ ms, requests }, index) => [
    point(ms, course[index - 1]?.requests ?? 0),
    point(ms, requests)
  ])
  const limit = [0, end].map((ms) => point(ms, Math.min(allowed(ms), top)))
  return html`${lines(
      [
        { name: "Requests so far", kind: "area", points: [point(0, 0), ...thinned(steps)] },
        { name: "The rate limit", kind: "limit", points: limit }
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
    ${numbersOf(course.slice(0, 100), {
      id: "course",
      caption: "Requests of the last sync when each resource ended",
      behind: ({ resource }) => runResources(`run_id = ${literal(sync!.id)} AND resource = ${literal(resource)}`),
      columns: [
        text("Resource", ({ resource }) => resource),
        number("After", ({ ms }) => `${(ms / 1000).toFixed(1)} s`),
        number("Requests so far", ({ requests }) => requests)
      ]
    })}`
})

/** Enough points for a chart of any width. */
const thinned = <Point>(points: ReadonlyArray<Point>): ReadonlyArray<Point> => {
  const every = Math.ceil(points.length / 400)
  return points.filter((_, index) => index % every === 0 || index === points.length - 1)
}
