/** Progress of a run: a display on a terminal, and a log entry each minute. */
import { Effect, Schedule } from "effect"
import { type DisplayState, frame } from "./display.ts"
import { Output } from "../console/streams.ts"
import { stopwatch } from "../values/stopwatch.ts"
import { type LikelyRange, between, mapRange, rangeFields } from "../values/range.ts"
import { type Watched, total, totalsOf } from "./watched.ts"

const redrawMs = 500
const logMs = 60_000

/** Shows and logs the progress until it is interrupted. */
export const progress = Effect.fnUntraced(function* (watched: Watched) {
  const { display, onResize } = yield* Output
  const elapsed = yield* stopwatch
  const pace = new Pace()
  const current = Effect.map(elapsed, (ms) => stateOf(watched, ms, pace))
  const logged = Effect.schedule(Effect.flatMap(current, logProgress), Schedule.spaced(logMs))
  if (display === undefined) return yield* logged

  let state = yield* current
  const draw = () => display.draw(frame(state, display.size))
  const redraw = Effect.map(current, (now) => {
    state = now
    draw()
  })
  const drawn = Effect.schedule(redraw, Schedule.spaced(redrawMs))
  yield* Effect.acquireUseRelease(
    Effect.sync(() => onResize(draw)),
    () => Effect.all([drawn, logged], { concurrency: "unbounded" }),
    (stopListening) =>
      Effect.sync(() => {
        stopListening()
        display.draw([])
      })
  )
})

const logProgress = (state: DisplayState) =>
  Effect.logInfo("progress").pipe(
    Effect.annotateLogs({
      requests: state.requests,
      ...rangeFields("planned", state.planned),
      records: state.records,
      resources_done: state.readings.filter(({ status }) => status !== undefined).length,
      resources: state.readings.length,
      window_requests: state.inWindow,
      window_max: state.burst,
      left_today: state.dailyRemaining,
      ...rangeFields("seconds_left", state.leftMs && mapRange(state.leftMs, (ms) => Math.round(ms / 1000)))
    })
  )

const stateOf = (watched: Watched, elapsedMs: number, pace: Pace): DisplayState => {
  const { accounts, names } = watched
  const usages = accounts.map(({ api }) => api.usage())
  const [{ windowMs, dailyRemaining }] = usages as [(typeof usages)[number]]
  const burst = total(usages.map((usage) => usage.burst))
  const readings = accounts.flatMap((account) => readingsOf(account, accounts.length > 1, names))
  const totals = totalsOf(watched)
  const { requests, planned } = totals
  const left = planned && mapRange(planned, (number) => number - requests)
  pace.add(elapsedMs, requests)
  // A run that needs more requests than the day still allows is paused before its end.
  const isPaused = accounts.length === 1 && left !== undefined && left.min > (dailyRemaining ?? Infinity)
  const leftMs = left && !isPaused ? timeFor(left, (number) => pace.msFor(number, burst / windowMs)) : undefined
  return {
    readings,
    ...totals,
    elapsedMs,
    leftMs,
    isPublishing: watched.isPublishing,
    inWindow: total(usages.map((usage) => Math.min(usage.inWindow, usage.burst))),
    burst,
    dailyRemaining: accounts.length > 1 ? undefined : dailyRemaining
  }
}

/** `undefined` while the pace is unknown, and for a run that needs more requests than were planned. */
const timeFor = (
  { min, max, likely }: LikelyRange,
  of: (number: number) => number | undefined
): LikelyRange | undefined => {
  const least = of(Math.max(0, min))
  if (least === undefined || (max ?? 0) < 0) return undefined
  const likelyMs = likely === undefined || likely < 0 ? undefined : of(likely)
  return {
    ...between(least, max === undefined ? undefined : of(max)),
    ...(likelyMs !== undefined && { likely: likelyMs })
  }
}

const readingsOf = (
  { api, counts, location }: Watched["accounts"][number],
  isOneOfSeveral: boolean,
  names: Watched["names"]
) =>
  Array.from(counts, ([label, { pages, records, status }]) => ({
    name: isOneOfSeveral ? `${names?.get(location) ?? location} ${label}` : label,
    pages,
    records,
    requests: api.requestsByResource.get(label) ?? 0,
    status
  }))

const observedMsMax = 60_000
/** A shorter observation may be one burst of the rate limit. */
const observedMsMin = 10_000

/** Estimates the time that a run still takes from the requests that it has sent in the last minute. */
export class Pace {
  #samples: Array<{ readonly at: number; readonly requests: number }> = []

  /** Adds the number of requests that were sent until a time, in milliseconds. */
  add(at: number, requests: number): void {
    this.#samples = [...this.#samples.filter((sample) => sample.at >= at - observedMsMax), { at, requests }]
  }

  /**
   * Milliseconds that a number of requests take. `undefined` while the pace is unknown, or if no request was sent.
   * `perMs`: the pace that the rate limit allows, which a burst at the beginning exceeds.
   */
  msFor(requests: number, perMs: number): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    if (first === undefined || last === undefined || last.at - first.at < observedMsMin) return undefined
    const pace = Math.min((last.requests - first.requests) / (last.at - first.at), perMs)
    return pace > 0 ? requests / pace : undefined
  }
}
