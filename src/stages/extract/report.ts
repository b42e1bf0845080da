/** What the log, the display and those who watch a run are told of its readings. */
import { Effect } from "effect"
import { statusOf, sentencesOf } from "../../values/status.ts"
import { RunEvents } from "../../values/run-event.ts"
import type { Outcome } from "../../stores/vault/entry.ts"
import { type RunContext, end } from "./run-context.ts"

export const reportStart = Effect.fnUntraced(function* (resource: string, { run, location }: RunContext) {
  const onEvent = yield* RunEvents
  onEvent?.({ event: "resourceStarted", run, location, resource })
})

export const reportEnd = Effect.fnUntraced(function* (
  resource: string,
  { reason, ...outcome }: Outcome & { readonly reason?: "retryLater" | "forbidden" | "badToken" },
  durationMs: number,
  { counts, run, location }: RunContext
) {
  const status = statusOf(outcome)
  const { pages, records } = end(counts, resource, status)
  const { mode, requests } = outcome
  const onEvent = yield* RunEvents
  onEvent?.({
    event: "resourceFinished",
    run,
    location,
    resource,
    mode,
    status,
    ...(reason && { reason }),
    requests,
    pages,
    records,
    durationMs,
    warnings: sentencesOf(outcome)
  })
  // Most readings of most nights change nothing; those that changed rows are logged once these are loaded.
  const isQuiet = status === "complete" && outcome.warnings.length === 0
  yield* (isQuiet ? Effect.logDebug("resource ended") : Effect.logInfo("resource ended")).pipe(
    Effect.annotateLogs({
      status,
      mode,
      requests,
      pages,
      records,
      warnings: outcome.shortfalls.length + outcome.warnings.length,
      duration_ms: durationMs
    })
  )
})
