/** Section: what the requests were spent on, against the limits of the service. */
import * as Effect from "effect/Effect"
import { columns, ticksOf } from "../../../values/charts.ts"
import { dayMs } from "../../../catalog/timestamps.ts"
import { brief, count, counted, share } from "../format.ts"
import { day } from "../../../values/moment.ts"
import { html } from "../../../values/html.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { highestOf, sumOf } from "../rows.ts"
import { section } from "../section.ts"
import { bars, number, numbersOf, tableOf, text } from "../table.ts"
import { courseOfLastSync } from "./course.ts"
import { documentedLimits } from "./limits.ts"
import { type Period, dayOf, daysMax, since } from "./period.ts"

/** With the requests of the last day. */
export const requestsSection = Effect.fn("report.requests")(function* (period: Period) {
  const from = since(period, 31)
  const found = yield* query(
    { day: Number, n: Number, busiest: Number },
    `SELECT day, sum(n) AS n, max(n) AS busiest FROM (
       SELECT location_id, ${dayOf("finished_at")} AS day, sum(requests) AS n FROM meta.run_resources
       WHERE finished_at > ${from} GROUP BY ALL) GROUP BY ALL`
  )
  const costs = yield* query(
    { resource: String, lastDay: Number, all: Number },
    `SELECT resource, coalesce(sum(requests) FILTER (finished_at > ${since(period, 1)}), 0) AS lastDay, sum(requests) AS "all"
     FROM meta.run_resources WHERE finished_at > ${from} GROUP BY ALL HAVING sum(requests) > 0 ORDER BY lastDay DESC, "all" DESC, resource`
  )
  const sent = sumOf(costs, ({ lastDay }) => lastDay)
  const { locationCount } = period
  const { perDay } = documentedLimits
  const names = period.days.map((one) => day(one * dayMs))
  const byDay = period.days.map((one) => found.find((row) => row.day === one)?.n ?? 0)
  const days = byDay.map((value, index) => ({ text: names[index]!, value }))
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
        columns: [
          text("Resource", ({ resource }) => resource),
          number("Requests, 24 h", ({ lastDay }) => lastDay),
          number("Share", ({ lastDay }) => share(lastDay, sent)),
          bars("Share of the last 24 h", costs, ({ lastDay }) => lastDay),
          number("Requests, 30 days", ({ all }) => all)
        ]
      })}`
  })
  return { sent, content }
})
