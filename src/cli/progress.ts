/** Progress of a run: a table that is redrawn on a terminal, a line every 30 s elsewhere. */
import { Clock, Effect } from "effect"
import type { Api } from "../api/api.ts"
import type { Counts } from "../extract/run-context.ts"
import { Environment } from "./environment.ts"
import { Output, duration, table } from "./output.ts"

export interface Watched {
  readonly apis: ReadonlyArray<Api["Service"]>
  readonly counts: Counts
  /** Requests the plan foresaw, where it could. */
  planned: number | undefined
}

export const progress = Effect.fnUntraced(function* (watched: Watched) {
  const startedAt = yield* Clock.currentTimeMillis
  const { say, stderr } = yield* Output
  const live = stderr.isTTY === true && !(yield* Environment)["CI"]
  let drawn = 0
  const erase = () => {
    if (drawn > 0) stderr.write(`\u001b[${drawn}A\u001b[J`)
    drawn = 0
  }
  const draw = Effect.gen(function* () {
    yield* Effect.sleep(live ? 500 : 30_000)
    const elapsedMs = (yield* Clock.currentTimeMillis) - startedAt
    if (!live) return say(summary(watched, elapsedMs))
    const lines = [...rows(watched), summary(watched, elapsedMs)].map((line) =>
      line.slice(0, (stderr.columns ?? 80) - 1)
    )
    erase()
    stderr.write(`${lines.join("\n")}\n`)
    drawn = lines.length
  })
  yield* Effect.forever(draw).pipe(Effect.ensuring(Effect.sync(erase)))
})

const rows = ({ apis, counts }: Watched): ReadonlyArray<string> =>
  table(
    ["resource", "pages", "records", "requests"],
    [...counts].map(([resource, { pages, records }]) => [
      resource,
      pages,
      records,
      total(apis.map((api) => api.requestsByResource.get(resource) ?? 0))
    ])
  )

const total = (numbers: ReadonlyArray<number>) => numbers.reduce((sum, number) => sum + number, 0)

const summary = ({ apis, counts, planned }: Watched, elapsedMs: number): string => {
  const usages = apis.map((api) => api.usage())
  const [{ windowMs, dailyRemaining }] = usages as [ReturnType<Api["Service"]["usage"]>]
  const burst = total(usages.map((usage) => usage.burst))
  const inWindow = total(usages.map((usage) => Math.min(usage.inWindow, usage.burst)))
  const sent = total(apis.flatMap((api) => [...api.requestsByResource.values()]))
  const records = total([...counts.values()].map((count) => count.records))
  return [
    duration(elapsedMs),
    `${sent}${planned === undefined ? "" : ` of about ${Math.max(planned, sent)}`} requests`,
    `${records} records`,
    `budget ${inWindow}/${burst}`,
    ...(dailyRemaining === undefined || apis.length > 1 ? [] : [`${dailyRemaining} left today`]),
    ...(planned === undefined ? [] : [`${duration((Math.max(0, planned - sent) / burst) * windowMs)} to go`])
  ].join(" · ")
}
