/**
 * The rate limiter of one token and location. However the service counts, it never sends more requests in a sliding window
 * than the rate limit allows, and comes as close to the limit as this permits.
 *
 * A request takes a slot when it is sent. The service counts it at some time before it responds, so the slot is free
 * again one window after the response. This is never too early, and costs one round trip per window. The first request
 * is sent alone: its response shows the limits, and what other clients or an earlier run have used.
 */
import { Clock, Deferred, Effect, Latch } from "effect"
import { dayMs } from "../../catalog/timestamps.ts"
import { type Failure, failure } from "../../values/failure.ts"
import type { RecentRequests, RequestLimits } from "../../settings/account.ts"
import { BudgetExhausted } from "./errors.ts"
import { OtherClients, type OwnRequest } from "./other-clients.ts"
import { RunEvents } from "../../values/run-event.ts"

/** Lower values go first: 0 for cursors that expire, 1 for lists, 2 for children, whose responses have few records. */
export type Priority = 0 | 1 | 2

/** The rate limit as a response reports it; times are milliseconds. */
export interface RateLimitSnapshot {
  readonly max?: number | undefined
  readonly remaining?: number | undefined
  readonly windowMs?: number | undefined
  readonly dailyMax?: number | undefined
  readonly dailyRemaining?: number | undefined
  readonly dailyResetMs?: number | undefined
  /** Whether there was no connection, so that the service cannot have counted the request. */
  readonly unsent?: boolean
  /** Set for a 429: how long to wait. If the service does not say, the wait is a whole window. */
  readonly refusedForMs?: number | "unspecified" | undefined
}

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

/** Longer waits are left to a scheduler: the run is paused. */
const waitMsMax = 3_600_000

/** A service that allows a retry at once usually rejects it. */
const refusedMsMin = 1000

/** Timers and clocks of both sides are rounded to milliseconds. */
const marginMs = 3

/**
 * While other clients are active, requests are spread over this share of a window. With few requests in flight,
 * responses show the use of other clients exactly, and early enough to leave them more.
 */
const spreadShare = 1 / 4

/** The monotonic clock measures windows: if a wall clock is set forward, slots become free early; if set back, late. */
const elapsedMs = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))

export const makeBudget = Effect.fn("api.budget")(function* (limits: RequestLimits, location = "") {
  let { burst, windowMs } = limits.recent ?? limits
  let inFlight = 0
  let isLimitKnown = false
  let blockedUntil = 0
  let dailyRemaining: number | undefined
  let dailyMax: number | undefined
  let resetAt: number | undefined
  const reserved = limits.reservePerDay + (limits.syncsPerDay ?? 0)
  const remainingToday = () => (dailyRemaining ?? Infinity) - reserved - inFlight
  const startedAt = { monotonic: yield* elapsedMs, wallClock: yield* Clock.currentTimeMillis }
  const recentMs = (limits.recent?.answered ?? [])
    .map((at) => at - startedAt.wallClock)
    .filter((at) => at <= 0 && at + windowMs > 0)
    .toSorted((one, other) => one - other)
    .map((at) => startedAt.monotonic + at)
  /** When each slot whose request has ended is free again, ascending. */
  let heldUntil: Array<number> = recentMs.map((at) => at + windowMs + marginMs)
  const otherClients = new OtherClients(recentMs.map((at) => ({ sentMs: at, answeredMs: at })))
  let isShared = false
  let pacedUntil = 0
  const waiting: readonly [Array<Waiter>, Array<Waiter>, Array<Waiter>] = [[], [], []]
  type Waiter = { readonly decision: Deferred.Deferred<void, BudgetExhausted | Failure>; granted: boolean }
  const changed = yield* Latch.make(false)
  const reportWait = yield* waitReporter(location)
  const untilDeadlineMs = (limits.deadline ?? Infinity) - (yield* Clock.currentTimeMillis)
  let isPastDeadline = untilDeadlineMs <= 0

  /** Fails all waiting requests. */
  const failWaiting = (error: BudgetExhausted | Failure) =>
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
    heldUntil = heldUntil.filter((until) => until > now)
    // A request that fails may interrupt others of its resource, so those in flight end first.
    if (isPastDeadline && inFlight === 0)
      yield* failWaiting(new BudgetExhausted({ message: "the deadline has passed" }))
    // Requests in flight may or may not be counted already, so waiting requests fail only once all have ended.
    if (remainingToday() <= 0 && inFlight === 0)
      yield* failWaiting(
        dailyMax !== undefined && dailyMax <= limits.reservePerDay
          ? reserveTooLarge(limits.reservePerDay, dailyMax)
          : new BudgetExhausted({
              message: `the day's requests are used up (${dailyRemaining} left, ${reserved} reserved for others)`,
              resumeAt: resetAt ?? nextDay(wallClockMs)
            })
      )
    const leftToOthers = otherClients.share(burst, now)
    // Other clients seem to have stopped: one request verifies this before the rest follow.
    if (isShared && !otherClients.areActive) isLimitKnown = false
    isShared = otherClients.areActive
    const capacity = Math.max(1, burst - leftToOthers)
    const inFlightMax = isLimitKnown ? capacity : 1
    const gapMs = isShared ? (windowMs * spreadShare) / capacity : 0
    const granted: Array<Waiter> = []
    const opensAt = () => Math.max(blockedUntil, pacedUntil)
    const isFree = () => !isPastDeadline && inFlight < inFlightMax && inFlight + heldUntil.length < capacity
    while (now >= opensAt() && isFree() && remainingToday() > 0) {
      const waiter = waiting.find((lane) => lane.length > 0)?.shift()
      if (!waiter) break
      inFlight++
      // Timers have a resolution of 1 ms, so a delay of up to 1 ms is made up for.
      pacedUntil = Math.max(pacedUntil, now - 1) + gapMs
      waiter.granted = true
      granted.push(waiter)
    }
    const next =
      now < opensAt() ? Math.ceil(opensAt()) : Math.min(heldUntil[0] ?? Infinity, otherClients.decreasesAtMs())
    const isAnyWaiting = waiting.some((lane) => lane.length > 0) && Number.isFinite(next)
    if (isAnyWaiting && next - now > waitMsMax) {
      const message = `the service requires a wait of ${Math.round((next - now) / 60_000)} minutes`
      yield* failWaiting(new BudgetExhausted({ message, resumeAt: wallClockMs + next - now }))
    }
    if (isAnyWaiting) reportWait(now, next, blockedUntil > now)
    // This comes last: a granted request may end before the next line runs, which makes the values above outdated.
    yield* Effect.forEach(granted, ({ decision }) => Deferred.succeed(decision, undefined), { discard: true })
    yield* isAnyWaiting && next - now <= waitMsMax
      ? Effect.raceFirst(changed.await, Effect.sleep(next - now))
      : changed.await
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
    const waiter: Waiter = { decision: yield* Deferred.make<void, BudgetExhausted | Failure>(), granted: false }
    waiting[priority].push(waiter)
    yield* changed.open
    yield* Deferred.await(waiter.decision).pipe(
      // An interrupted request gives up its place, or the slot that it was just granted. One that failed has neither.
      Effect.onInterrupt(() => {
        const place = waiting[priority].indexOf(waiter)
        if (place >= 0) waiting[priority].splice(place, 1)
        if (waiter.granted) inFlight--
        return changed.open
      })
    )
    const own = otherClients.sent(yield* elapsedMs)
    return { release: (seen: RateLimitSnapshot) => release(own, seen) } satisfies Slot
  })

  const release = Effect.fnUntraced(function* (own: OwnRequest, seen: RateLimitSnapshot) {
    const now = yield* elapsedMs
    burst = seen.max ?? burst
    windowMs = seen.windowMs ?? windowMs
    inFlight--
    if (!seen.unsent) heldUntil.push(now + windowMs + marginMs)
    // After a 429, one request tests the limit before the rest follow.
    isLimitKnown = seen.refusedForMs === undefined && (isLimitKnown || "max" in seen)
    const used = seen.remaining === undefined ? undefined : burst - seen.remaining
    otherClients.ended(own, now, windowMs, used === undefined ? undefined : { used, burst, windowMs })
    if (seen.refusedForMs !== undefined) {
      const wasBlocked = blockedUntil > now
      blockedUntil = Math.max(
        blockedUntil,
        now + (seen.refusedForMs === "unspecified" ? windowMs + marginMs : Math.max(seen.refusedForMs, refusedMsMin))
      )
      if (!wasBlocked) yield* logWait(blockedUntil - now)
    }
    if (seen.dailyRemaining !== undefined) {
      // Responses arrive out of order, so the lowest value is used. A much higher one belongs to a new day.
      const isNewDay = dailyRemaining !== undefined && seen.dailyRemaining > dailyRemaining + 10 * burst
      dailyRemaining = isNewDay ? seen.dailyRemaining : Math.min(seen.dailyRemaining, dailyRemaining ?? Infinity)
    }
    dailyMax = seen.dailyMax ?? dailyMax
    if (seen.dailyResetMs !== undefined) resetAt = (yield* Clock.currentTimeMillis) + seen.dailyResetMs
    yield* changed.open
  })

  const recent = Effect.gen(function* () {
    const [now, wallClock] = [yield* elapsedMs, yield* Clock.currentTimeMillis]
    const answered = heldUntil
      .filter((until) => until > now)
      .map((until) => wallClock - now + until - windowMs - marginMs)
    return { burst, windowMs, answered }
  })
  return {
    acquire,
    recent,
    usage: () => ({ burst, windowMs, inWindow: inFlight + heldUntil.length, dailyRemaining })
  }
})

const reserveTooLarge = (reserve: number, dailyMax: number) => failure({ _tag: "ReserveTooLarge", reserve, dailyMax })

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
  (waitMs > 5000 ? Effect.logWarning : Effect.logInfo)("the service limits requests, so all requests wait").pipe(
    Effect.annotateLogs({ reason: "429", wait_ms: Math.round(waitMs) })
  )
