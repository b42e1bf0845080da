/** The requests of the last sync so far, against the fastest that the rate limit allows. */
import * as Effect from "effect/Effect"
import { literal } from "../../../stores/warehouse/sql.ts"
import { lines } from "../../../values/charts.ts"
import { html } from "../../../values/html.ts"
import { brief, counted, duration } from "../format.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { number, numbersOf, text } from "../table.ts"
import { documentedLimits } from "./limits.ts"
import type { Period } from "./period.ts"

export const courseOfLastSync = Effect.fnUntraced(function* ({ sync, locationCount }: Period) {
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
