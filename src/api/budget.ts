/**
 * The request budget of one credential and location: never more than the allowed number in any sliding window, however
 * the service counts, and as close to it as can be held.
 *
 * A request takes a slot when it is sent. The service counted it at some moment before it answered, so the slot is free
 * again one window after the answer. That can never be too early, and costs one latency per window.
 * The first request goes alone: its answer says what the limits are and what others, or a run before us, have used.
 */
import { Clock, Deferred, Effect, Latch, type Scope } from "effect"
import { BudgetSpent } from "./errors.ts"
import { dayMs } from "../catalog/instants.ts"
import { Neighbours, type Own } from "./neighbours.ts"

export interface Limits {
  readonly burst: number
  readonly windowMs: number
  /** Requests of each day left to other programs. */
  readonly reservePerDay: number
}

/** Lower goes first: an export cursor dies when it waits, a list brings many records, a fan-out one. */
export type Priority = 0 | 1 | 2

/** What the rate headers of an answer said. */
export interface Seen {
  readonly max?: number | undefined
  readonly remaining?: number | undefined
  readonly windowMs?: number | undefined
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
  readonly settle: (seen: Seen) => Effect.Effect<void>
}

export interface Budget {
  /** Waits for a slot. Fails with BudgetSpent when the day's share is used up. */
  readonly take: (priority: Priority) => Effect.Effect<Slot, BudgetSpent>
  readonly usage: () => {
    readonly burst: number
    readonly windowMs: number
    readonly inWindow: number
    readonly dailyRemaining: number | undefined
  }
}

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
  let resetAt: number | undefined
  const leftToday = () => (dailyRemaining ?? Infinity) - limits.reservePerDay - inFlight
  /** When each slot that is not in flight is free again, ascending. */
  let heldUntil: Array<number> = []
  const neighbours = new Neighbours()
  let beside = false
  let pacedUntil = 0
  const waiting: readonly [Array<Waiter>, Array<Waiter>, Array<Waiter>] = [[], [], []]
  type Waiter = { readonly answer: Deferred.Deferred<void, BudgetSpent>; granted: boolean }
  const changed = yield* Latch.make(false)

  const grant = Effect.gen(function* () {
    // Closed before looking: what changes from here on is looked at again.
    yield* changed.close
    const now = yield* elapsedMs
    const today = yield* Clock.currentTimeMillis
    heldUntil = heldUntil.filter((until) => until > now)
    // What is under way may be counted already or not: nobody is told before the last of it is answered.
    if (leftToday() <= 0 && inFlight === 0)
      yield* Effect.forEach(
        waiting.flatMap((lane) => lane.splice(0)),
        (waiter) =>
          Deferred.fail(
            waiter.answer,
            new BudgetSpent({
              message: `the day's requests are used up (${dailyRemaining} left, ${limits.reservePerDay} kept for others)`,
              resumeAt: resetAt ?? nextDay(today)
            })
          )
      )
    const theirs = neighbours.share(burst, now)
    // They are out of sight: one request looks whether they are gone before the others follow.
    if (beside && !neighbours.inSight) known = false
    beside = neighbours.inSight
    const capacity = Math.max(1, burst - theirs)
    const underWayMax = known ? capacity : 1
    const gapMs = beside ? (windowMs * spreadShare) / capacity : 0
    const opensAt = () => Math.max(blockedUntil, pacedUntil)
    const isFree = () => inFlight < underWayMax && inFlight + heldUntil.length < capacity
    while (now >= opensAt() && isFree() && leftToday() > 0) {
      const waiter = waiting.find((lane) => lane.length > 0)?.shift()
      if (!waiter) break
      inFlight++
      // Timers count whole milliseconds; what is left of one is not lost.
      pacedUntil = Math.max(pacedUntil, now - 1) + gapMs
      waiter.granted = true
      yield* Deferred.succeed(waiter.answer, undefined)
    }
    const next = now < opensAt() ? Math.ceil(opensAt()) : Math.min(heldUntil[0] ?? Infinity, neighbours.changesMs())
    yield* waiting.some((lane) => lane.length > 0) && Number.isFinite(next)
      ? Effect.raceFirst(changed.await, Effect.sleep(next - now))
      : changed.await
  })
  yield* Effect.forkScoped(Effect.forever(grant))

  const take = Effect.fnUntraced(function* (priority: Priority) {
    const waiter: Waiter = { answer: yield* Deferred.make<void, BudgetSpent>(), granted: false }
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
    return { settle: (seen: Seen) => settle(own, seen) } satisfies Slot
  })

  const settle = Effect.fnUntraced(function* (own: Own, seen: Seen) {
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
    if (seen.dailyResetMs !== undefined) resetAt = (yield* Clock.currentTimeMillis) + seen.dailyResetMs
    yield* changed.open
  })

  return {
    take,
    usage: () => ({ burst, windowMs, inWindow: inFlight + heldUntil.length, dailyRemaining })
  }
})

/** The reset header is often missing; a new day begins at midnight UTC at the latest. */
const nextDay = (now: number): number => (Math.floor(now / dayMs) + 1) * dayMs
