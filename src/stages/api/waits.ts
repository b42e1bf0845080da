/** Says that requests wait. */
import { Effect } from "effect"
import { RunEvents } from "../../values/run-event.ts"

const reportedMsMin = 1000

/** Returns a function that reports a wait to those who watch the run: once, if it is of at least a second. */
export const waitReporter = Effect.fnUntraced(function* (location: string) {
  const onEvent = yield* RunEvents
  let reportedUntil = 0
  return (now: number, until: number, isRefused: boolean): void => {
    // A wait is extended by each request that ends meanwhile.
    if (until - now < reportedMsMin || until - reportedUntil < reportedMsMin) return
    reportedUntil = until
    const reason = isRefused ? "refused" : "rateLimit"
    onEvent?.({ event: "waiting", location, reason, waitMs: Math.round(until - now) })
  }
})

/** A person at a terminal sees warnings only, and has to know why nothing happens. */
export const logWait = (waitMs: number) =>
  (waitMs > 5000 ? Effect.logWarning : Effect.logInfo)("the service limits requests, so all requests wait").pipe(
    Effect.annotateLogs({ reason: "429", wait_ms: Math.round(waitMs) })
  )
