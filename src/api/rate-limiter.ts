/**
 * The request budget of one credential and location: never more than the allowed number in any sliding window, however
 * the service counts, and as close to it as can be held.
 *
 * A request takes a slot when it is sent. The service counted it at some moment before it answered, so the slot is free
 * again one window after the answer. That can never be too early, and costs one latency per window.
 * The first request goes alone: its answer says what the limits are and what others, or a run before us, have used.
 */
import { Clock, Deferred, Effect, Latch, type Scope } from "effect"
import { dayMs } from "../catalog/timestamps.ts"
import { type Failure, failure } from "../failure.ts"
import { BudgetExhausted } from "./errors.ts"
import { Neighbours, type Own } from "./other-clients.ts"

export interface Limits {
  readonly burst: number
  readonly windowMs: number
  /** Requests of each day left to other programs: the setting `budget.reserve_per_day`. */
  readonly reservePerDay: number
  /** Requests of each day that a backfill also leaves to syncs. */
  readonly syncsPerDay?: number
}

/** Lower goes first: an export cursor dies when it waits, a list brings many records, a child request few. */
export type Priority = 0 | 1 | 2

/** What the rate headers of an answer said. */
export interface RateLimitSnapshot {
  readonly max?: number | undefined
  readonly remaining?: number | undefined
  readonly windowMs?: number | undefined
  readonly dailyMax?: number | undefined
  readonly dailyRemaining?: number | undefined
  readonly dailyResetMs?: number | undefined
  /** No connection came about, so nobody counted anything. */
  readonly unsent?: boolean
  /** The answer was a 429: wait this long, or a whole window where the service does not say. */
  readonly refusedForMs?: number | "unsaid" | undefined
}

/** Leave to send one request. */
export interface Slot {
  /** The request was answered, or failed on its way (`seen` is empty). Called once, however it ends. */
  readonly release: (seen: RateLimitSnapshot) => Effect.Effect<void>
}

export interface Budget {
  /**
   * Waits for a slot. Fails with BudgetSpent when the day's share is used up or the service has us wait for hours, and
   * with a Failure where the setting leaves nothing of any day.
   */
  readonly acquire: (priority: Priority) => Effect.Effect<Slot, BudgetExhausted | Failure>
  readonly usage: () => {
    readonly burst: number
    readonly windowMs: number
    readonly inWindow: number
    readonly dailyRemaining: number | undefined
  }
}

/** A scheduler waits better than a process. */
const waitMsMax = 3_600_000

/** Who says "at once" refuses again as a rule. */
const refusedMsMin = 1000

/** Timers and clocks are rounded to milliseconds on both sides. */
const marginMs = 3

/**
 * Beside another program ours are sent over this share of a window: few under way at once, so the answers show exactly
 * what is theirs, and early enough to leave them more.
 */
const spreadShare = 1 / 4

/** Windows are measured by a clock that nobody sets: one set forward would free slots early, one set back never. */
const elapsedMs = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))

export const makeBudget = Effect.fn("api.budget")(function* (
  limits: Limits
): Effect.fn.Return<Budget, never, Scope.Scope> {
  let { burst, windowMs } = limits
  let inFlight = 0
  let known = false
  let blockedUntil = 0
  let dailyRemaining: number | undefined
  let dailyMax: number | undefined
  let resetAt: number | undefined
  const kept = limits.reservePerDay + (limits.syncsPerDay ?? 0)
  const leftToday = () => (dailyRemaining ?? Infinity) - kept - inFlight
  /** When each slot that is not in flight is free again, ascending. */
  let heldUntil: Array<number> = []
  const neighbours = new Neighbours()
  let beside = false
  let pacedUntil = 0
  const waiting: readonly [Array<Waiter>, Array<Waiter>, Array<Waiter>] = [[], [], []]
  type Waiter = { readonly answer: Deferred.Deferred<void, BudgetExhausted | Failure>; granted: boolean }
  const changed = yield* Latch.make(false)

  /** Tells everyone who waits. */
  const refuse = (why: BudgetExhausted | Failure) =>
    Effect.forEach(
      waiting.flatMap((lane) => lane.splice(0)),
      ({ answer }) => Deferred.fail(answer, why),
      { discard: true }
    )

  const grant = Effect.gen(function* () {
    // Closed before looking: what changes from here on is looked at again.
    yield* changed.close
    const now = yield* elapsedMs
    const today = yield* Clock.currentTimeMillis
    heldUntil = heldUntil.filter((until) => until > now)
    // What is under way may be counted already or not: nobody is told before the last of it is answered.
    if (leftToday() <= 0 && inFlight === 0)
      yield* refuse(
        dailyMax !== undefined && dailyMax <= limits.reservePerDay
          ? reserveTooLarge(limits.reservePerDay, dailyMax)
          : new BudgetExhausted({
              message: `the day's requests are used up (${dailyRemaining} left, ${kept} kept for others)`,
              resumeAt: resetAt ?? nextDay(today)
            })
      )
    const theirs = neighbours.share(burst, now)
    // They are out of sight: one request looks whether they are gone before the others follow.
    if (beside && !neighbours.inSight) known = false
    beside = neighbours.inSight
    const capacity = Math.max(1, burst - theirs)
    const inFlightMax = known ? capacity : 1
    const gapMs = beside ? (windowMs * spreadShare) / capacity : 0
    const granted: Array<Waiter> = []
    const opensAt = () => Math.max(blockedUntil, pacedUntil)
    const isFree = () => inFlight < inFlightMax && inFlight + heldUntil.length < capacity
    while (now >= opensAt() && isFree() && leftToday() > 0) {
      const waiter = waiting.find((lane) => lane.length > 0)?.shift()
      if (!waiter) break
      inFlight++
      // Timers count whole milliseconds; what is left of one is not lost.
      pacedUntil = Math.max(pacedUntil, now - 1) + gapMs
      waiter.granted = true
      granted.push(waiter)
    }
    const next = now < opensAt() ? Math.ceil(opensAt()) : Math.min(heldUntil[0] ?? Infinity, neighbours.changesMs())
    const isWaitedFor = waiting.some((lane) => lane.length > 0) && Number.isFinite(next)
    if (isWaitedFor && next - now > waitMsMax) {
      const message = `the service has us wait for ${Math.round((next - now) / 60_000)} minutes`
      yield* refuse(new BudgetExhausted({ message, resumeAt: today + next - now }))
    }
    // Last: who is told may send and be answered before we go on, and what was worked out above holds no more.
    yield* Effect.forEach(granted, ({ answer }) => Deferred.succeed(answer, undefined), { discard: true })
    yield* isWaitedFor && next - now <= waitMsMax
      ? Effect.raceFirst(changed.await, Effect.sleep(next - now))
      : changed.await
  })
  yield* Effect.forkScoped(Effect.forever(grant))

  const acquire = Effect.fnUntraced(function* (priority: Priority) {
    const waiter: Waiter = { answer: yield* Deferred.make<void, BudgetExhausted | Failure>(), granted: false }
    waiting[priority].push(waiter)
    yield* changed.open
    yield* Deferred.await(waiter.answer).pipe(
      // Its place in the lane, or the slot it was just given, is somebody else's; one that was refused has neither.
      Effect.onInterrupt(() => {
        const place = waiting[priority].indexOf(waiter)
        if (place >= 0) waiting[priority].splice(place, 1)
        if (waiter.granted) inFlight--
        return changed.open
      })
    )
    const own = neighbours.sent(yield* elapsedMs)
    return { release: (seen: RateLimitSnapshot) => release(own, seen) } satisfies Slot
  })

  const release = Effect.fnUntraced(function* (own: Own, seen: RateLimitSnapshot) {
    const now = yield* elapsedMs
    burst = seen.max ?? burst
    windowMs = seen.windowMs ?? windowMs
    inFlight--
    if (!seen.unsent) heldUntil.push(now + windowMs + marginMs)
    // After a refusal one request looks whether there is room, before the others follow.
    known = seen.refusedForMs === undefined && (known || "max" in seen)
    const used = seen.remaining === undefined ? undefined : burst - seen.remaining
    neighbours.ended(own, now, windowMs, used === undefined ? undefined : { used, burst, windowMs })
    if (seen.refusedForMs !== undefined)
      blockedUntil = Math.max(
        blockedUntil,
        now + (seen.refusedForMs === "unsaid" ? windowMs + marginMs : Math.max(seen.refusedForMs, refusedMsMin))
      )
    if (seen.dailyRemaining !== undefined) {
      // Answers overtake each other, so the lowest counts; a higher one by far is a new day's.
      const newDay = dailyRemaining !== undefined && seen.dailyRemaining > dailyRemaining + 10 * burst
      dailyRemaining = newDay ? seen.dailyRemaining : Math.min(seen.dailyRemaining, dailyRemaining ?? Infinity)
    }
    dailyMax = seen.dailyMax ?? dailyMax
    if (seen.dailyResetMs !== undefined) resetAt = (yield* Clock.currentTimeMillis) + seen.dailyResetMs
    yield* changed.open
  })

  return {
    acquire,
    usage: () => ({ burst, windowMs, inWindow: inFlight + heldUntil.length, dailyRemaining })
  }
})

const reserveTooLarge = (reserve: number, dailyMax: number) => failure({ _tag: "ReserveTooLarge", reserve, dailyMax })

/** The reset header is often missing; a new day begins at midnight UTC at the latest. */
const nextDay = (now: number): number => (Math.floor(now / dayMs) + 1) * dayMs
