/** How a run is getting on: a table that is redrawn on a terminal, a plain line every 30 s elsewhere. */
import { Clock, Effect } from "effect"
import type { Api } from "../api/api.ts"
import type { Counts } from "../extract/context.ts"
import { duration, say, table } from "./output.ts"

export interface Watched {
  readonly api: Api["Service"]
  readonly counts: Counts
  /** Requests the plan foresaw, where it could. */
  planned: number | undefined
}

export const progress = Effect.fnUntraced(function* (watched: Watched) {
  const startedAt = yield* Clock.currentTimeMillis
  const live = process.stderr.isTTY && !process.env["CI"]
  let drawn = 0
  const erase = () => {
    if (drawn > 0) process.stderr.write(`\u001b[${drawn}A\u001b[J`)
    drawn = 0
  }
  const draw = Effect.gen(function* () {
    yield* Effect.sleep(live ? 500 : 30_000)
    const elapsedMs = (yield* Clock.currentTimeMillis) - startedAt
    if (!live) return say(summary(watched, elapsedMs))
    const lines = [...rows(watched), summary(watched, elapsedMs)].map((line) =>
      line.slice(0, (process.stderr.columns ?? 80) - 1)
    )
    erase()
    process.stderr.write(`${lines.join("\n")}\n`)
    drawn = lines.length
  })
  yield* Effect.forever(draw).pipe(Effect.ensuring(Effect.sync(erase)))
})

const rows = ({ api, counts }: Watched): ReadonlyArray<string> =>
  table(
    ["resource", "pages", "records", "requests"],
    [...counts].map(([resource, { pages, records }]) => [
      resource,
      pages,
      records,
      api.requestsByResource.get(resource) ?? 0
    ])
  )

const summary = ({ api, counts, planned }: Watched, elapsedMs: number): string => {
  const { burst, inWindow, windowMs, dailyRemaining } = api.usage()
  const sent = [...api.requestsByResource.values()].reduce((sum, requests) => sum + requests, 0)
  const records = [...counts.values()].reduce((sum, count) => sum + count.records, 0)
  return [
    duration(elapsedMs),
    `${sent}${planned === undefined ? "" : ` of about ${Math.max(planned, sent)}`} requests`,
    `${records} records`,
    `budget ${Math.min(inWindow, burst)}/${burst}`,
    ...(dailyRemaining === undefined ? [] : [`${dailyRemaining} left today`]),
    ...(planned === undefined ? [] : [`${duration((Math.max(0, planned - sent) / burst) * windowMs)} to go`])
  ].join(" · ")
}
