/**
 * The rate limiter of one token and location. However the service counts, it never sends more requests in a sliding window
 * than the rate limit allows, and comes as close to the limit as this permits.
 *
 * A request takes a slot when it is sent. The service counts it at some time before it responds, so the slot is free
 * again one window after the response. This is never too early, and costs one round trip per window. The first request
 * is sent alone: its response shows the limits, and what other clients or an earlier run have used.
 */
import { Limits } from "../../values/limits.ts"
import { Clock, Deferred, Effect, Latch } from "effect"
import { dayMs } from "../../catalog/timestamps.ts"
import { type Failure, failure } from "../../values/failure.ts"
import type { RecentRequests, RequestLimits } from "../../settings/account.ts"
import { BudgetExhausted } from "./errors.ts"
import type { OwnRequest } from "./other-clients.ts"
import { type RateLimitSnapshot, SlidingWindow } from "./sliding-window.ts"
import { RunEvents } from "../../values/run-event.ts"

/** Lower values go first: 0 for cursors that expire, 1 for lists, 2 for children, whose responses have few records. */
export type Priority = 0 | 1 | 2

/** Permission to send one request. */
export interface Slot {
  /** Call this exactly once, when the request has ended. Without a response, `seen` has no limits. */
  readonly release: (seen: RateLimitSnapshot) => Effect.Effect<void>
}

export interface Budget {
  /**
   * Waits for a slot. Fails with BudgetExhausted if the requests of the day are used up, the service requires a wait of
   * more than an hour, or the deadline has passed, and with a Failure if the reserve leaves no requests of any day.
   */
  readonly acquire: (priority: Priority) => Effect.Effect<Slot, BudgetExhausted | Failure>
  /** The requests that the service still counts, for the next run. */
  readonly recent: Effect.Effect<RecentRequests>
  readonly usage: () => {
    readonly burst: number
    readonly windowMs: number
    readonly inWindow: number
    readonly dailyRemaining: number | undefined
  }
}

/** The monotonic clock measures windows: if a wall clock is set forward, slots become free early; if set back, late. */
const elapsedMs = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))

type Refusal = BudgetExhausted | Failure

interface Waiter {
  readonly decision: Deferred.Deferred<void, Refusal>
  granted: boolean
}

export const makeBudget = Effect.fn("api.budget")(function* (limits: RequestLimits, location = "") {
  const { waitMs } = (yield* Limits).api
  const startedAt = { monotonic: yield* elapsedMs, wallClock: yield* Clock.currentTimeMillis }
  const window = new SlidingWindow(limits.recent ?? limits, recentAnswers(limits, startedAt))
  const day = new Day(limits)
  const waiting: readonly [Array<Waiter>, Array<Waiter>, Array<Waiter>] = [[], [], []]
  const changed = yield* Latch.make(false)
  const reportWait = yield* waitReporter(location)
  const untilDeadlineMs = (limits.deadline ?? Infinity) - (yield* Clock.currentTimeMillis)
  let isPastDeadline = untilDeadlineMs <= 0

  /** Fails all waiting requests. */
  const failWaiting = (error: Refusal) =>
    Effect.forEach(
      waiting.flatMap((lane) => lane.splice(0)),
      ({ decision }) => Deferred.fail(decision, error),
      { discard: true }
    )

  const grant = Effect.gen(function* () {
    // The latch is closed before the state is read, so that any later change causes another round.
    yield* changed.close
    const now = yield* elapsedMs
    const wallClockMs = yield* Clock.currentTimeMillis
    window.see(now)
    // A request that fails may interrupt others of its resource, so those in flight end first.
    if (isPastDeadline && window.inFlight === 0)
      yield* failWaiting(new BudgetExhausted({ message: "the deadline has passed" }))
    // Requests in flight may or may not be counted already, so waiting requests fail only once all have ended.
    if (day.remaining(0) <= 0 && window.inFlight === 0) yield* failWaiting(day.refusal(wallClockMs))
    const granted: Array<Waiter> = []
    while (!isPastDeadline && window.isFree(now) && day.remaining(window.inFlight) > 0) {
      const waiter = waiting.find((lane) => lane.length > 0)?.shift()
      if (!waiter) break
      window.take(now)
      waiter.granted = true
      granted.push(waiter)
    }
    const next = window.nextAt(now)
    const isAnyWaiting = waiting.some((lane) => lane.length > 0) && Number.isFinite(next)
    const isTooLong = isAnyWaiting && waitMs.isExceededBy(next - now)
    if (isTooLong) {
      const message = `the service requires a wait of ${Math.round((next - now) / 60_000)} minutes`
      yield* failWaiting(new BudgetExhausted({ message, resumeAt: wallClockMs + next - now }))
    }
    if (isAnyWaiting) reportWait(now, next, window.isBlocked(now))
    // This comes last: a granted request may end before the next line runs, which makes the values above outdated.
    yield* Effect.forEach(granted, ({ decision }) => Deferred.succeed(decision, undefined), { discard: true })
    yield* isAnyWaiting && !isTooLong ? Effect.raceFirst(changed.await, Effect.sleep(next - now)) : changed.await
  })
  yield* Effect.forkScoped(Effect.forever(grant))
  if (untilDeadlineMs < Infinity)
    yield* Effect.sleep(Math.max(0, untilDeadlineMs)).pipe(
      Effect.andThen(() => {
        isPastDeadline = true
        return changed.open
      }),
      Effect.forkScoped
    )

  const acquire = Effect.fnUntraced(function* (priority: Priority) {
    const waiter: Waiter = { decision: yield* Deferred.make<void, Refusal>(), granted: false }
    waiting[priority].push(waiter)
    yield* changed.open
    yield* Deferred.await(waiter.decision).pipe(
      // An interrupted request gives up its place, or the slot that it was just granted. One that failed has neither.
      Effect.onInterrupt(() => {
        const place = waiting[priority].indexOf(waiter)
        if (place >= 0) waiting[priority].splice(place, 1)
        if (waiter.granted) window.inFlight--
        return changed.open
      })
    )
    const own = window.sent(yield* elapsedMs)
    return { release: (seen: RateLimitSnapshot) => release(own, seen) } satisfies Slot
  })

  const release = Effect.fnUntraced(function* (own: OwnRequest, seen: RateLimitSnapshot) {
    const refusedMs = window.ended(own, yield* elapsedMs, seen)
    if (refusedMs !== undefined) yield* logWait(refusedMs)
    day.sees(seen, window.burst, yield* Clock.currentTimeMillis)
    yield* changed.open
  })

  const recent = Effect.gen(function* () {
    const [now, wallClock] = [yield* elapsedMs, yield* Clock.currentTimeMillis]
    const { burst, windowMs } = window
    return { burst, windowMs, answered: window.answered(now).map((at) => wallClock - now + at) }
  })
  return {
    acquire,
    recent,
    usage: () => {
      const { burst, counted, windowMs } = window
      return { burst, windowMs, inWindow: counted, dailyRemaining: day.left }
    }
  }
})

/** When the service answered the requests of an earlier run that it still counts, by the monotonic clock, ascending. */
const recentAnswers = (
  { recent }: RequestLimits,
  startedAt: { readonly monotonic: number; readonly wallClock: number }
): ReadonlyArray<number> =>
  (recent?.answered ?? [])
    .map((at) => at - startedAt.wallClock)
    .filter((at) => at <= 0 && at + recent!.windowMs > 0)
    .toSorted((one, other) => one - other)
    .map((at) => startedAt.monotonic + at)

/** The requests of a day, of which some are for other clients. */
class Day {
  left: number | undefined
  private max: number | undefined
  private resetAt: number | undefined
  private readonly reserve: number
  private readonly reserved: number

  constructor({ reservePerDay, syncsPerDay = 0 }: RequestLimits) {
    this.reserve = reservePerDay
    this.reserved = reservePerDay + syncsPerDay
  }

  /** Requests in flight may not be counted yet. */
  remaining(inFlight: number): number {
    return (this.left ?? Infinity) - this.reserved - inFlight
  }

  refusal(wallClockMs: number): Refusal {
    if (this.max !== undefined && this.max <= this.reserve)
      return failure({ _tag: "ReserveTooLarge", reserve: this.reserve, dailyMax: this.max })
    const message = `the day's requests are used up (${this.left} left, ${this.reserved} reserved for others)`
    return new BudgetExhausted({ message, resumeAt: this.resetAt ?? nextDay(wallClockMs) })
  }

  sees({ dailyMax, dailyRemaining, dailyResetMs }: RateLimitSnapshot, burst: number, wallClockMs: number): void {
    if (dailyRemaining !== undefined) {
      // Responses arrive out of order, so the lowest value is used. A much higher one belongs to a new day.
      const isNewDay = this.left !== undefined && dailyRemaining > this.left + 10 * burst
      this.left = isNewDay ? dailyRemaining : Math.min(dailyRemaining, this.left ?? Infinity)
    }
    this.max = dailyMax ?? this.max
    if (dailyResetMs !== undefined) this.resetAt = wallClockMs + dailyResetMs
  }
}

/** The reset header is often missing. Then the next day is assumed to begin at midnight UTC. */
const nextDay = (now: number): number => (Math.floor(now / dayMs) + 1) * dayMs

/** Shorter waits are not reported. */
const reportedMsMin = 1000

/** Returns a function that reports a wait to those who watch the run: once, if it is of at least a second. */
const waitReporter = Effect.fnUntraced(function* (location: string) {
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
const logWait = (waitMs: number) =>
  (waitMs > 5000 ? Effect.logWarning : Effect.logInfo)("the service asks to wait, so all requests wait").pipe(
    Effect.annotateLogs({ wait_ms: Math.round(waitMs) })
  )
