import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { rateHeaders } from "../../src/stages/api/http.ts"
import type { RequestLimits } from "../../src/settings/account.ts"
import { type Budget, type Slot, makeBudget } from "../../src/stages/api/rate-limiter.ts"

const limits: RequestLimits = { burst: 100, windowMs: 10_000, reservePerDay: 0 }

/** The most arrivals in any window that ends with one of them. */
const fullest = (arrivals: ReadonlyArray<number>, windowMs: number) =>
  Math.max(...arrivals.map((end) => arrivals.filter((at) => at > end - windowMs && at <= end).length))

/** A service that counts a request at some time within its latency. The budget must hold for all these times. */
const service = (
  budget: Budget,
  latencyMs: (n: number) => number,
  max = 100,
  others: () => number = () => 0,
  arrivals: Array<number> = []
) => {
  const request = Effect.fnUntraced(function* (n: number) {
    const slot = yield* budget.acquire(1)
    const latency = latencyMs(n)
    const before = Math.floor(latency * ((n * 7919) % 100) * 0.01)
    yield* Effect.sleep(before)
    const now = yield* Clock.currentTimeMillis
    arrivals.push(now)
    const remaining = max - others() - arrivals.filter((at) => at > now - 10_000).length
    yield* Effect.sleep(latency - before)
    yield* slot.release({ max, remaining, windowMs: 10_000 })
  })
  return { arrivals, request }
}

const run = (count: number, request: (n: number) => Effect.Effect<void, unknown>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(
      Effect.forEach(
        Array.from({ length: count }, (_, n) => n),
        request,
        { concurrency: 16, discard: true }
      )
    )
    for (let step = 0; step < 4000 && fiber.pollUnsafe() === undefined; step++) yield* TestClock.adjust(50)
    yield* Fiber.join(fiber)
    return yield* Clock.currentTimeMillis
  })

describe("the budget", () => {
  for (const [name, latency] of [
    ["no latency", () => 0],
    ["100 ms", () => 100],
    ["0 to 300 ms", (n: number) => (n * 104_729) % 300]
  ] as const)
    it.effect(`${name}: no window exceeds the limit, and at least 97 % of the budget is used`, () =>
      Effect.gen(function* () {
        const { arrivals, request } = service(yield* makeBudget(limits), latency)
        const start = yield* Clock.currentTimeMillis
        yield* run(600, request)
        assert.strictEqual(arrivals.length, 600)
        assert.isAtMost(fullest(arrivals, 10_000), 100)
        // The fastest order is a hundred at once, and the next hundred when their window is over.
        assert.isAtMost(arrivals.toSorted((one, other) => one - other)[500]! - start, 50_000 / 0.97)
      }).pipe(Effect.scoped)
    )

  it.effect("the limits of the first response apply at once", () =>
    Effect.gen(function* () {
      const { arrivals, request } = service(yield* makeBudget(limits), () => 20, 25)
      const elapsed = yield* run(100, request)
      assert.isAtMost(fullest(arrivals, 10_000), 25)
      assert.isAtMost(elapsed, 30_000 / 0.95)
    }).pipe(Effect.scoped)
  )

  it.effect("a run that begins after requests of another client waits until these leave the window", () =>
    Effect.gen(function* () {
      const start = yield* Clock.currentTimeMillis
      let now = start
      const { arrivals, request } = service(
        yield* makeBudget(limits),
        () => 10,
        100,
        () => (now - start < 9000 ? 70 : 0)
      )
      const clockFiber = yield* Effect.forkChild(
        Effect.forever(
          Effect.sleep(10).pipe(Effect.tap(() => Clock.currentTimeMillis.pipe(Effect.map((at) => (now = at)))))
        )
      )
      yield* run(100, request)
      yield* Fiber.interrupt(clockFiber)
      assert.isAtMost(arrivals.filter((at) => at - start < 9000).length, 30)
    }).pipe(Effect.scoped)
  )

  it.effect("a run takes the requests of the run before for its own, and uses the rest of the window at once", () =>
    Effect.gen(function* () {
      const arrivals: Array<number> = []
      const send = (budget: Budget, count: number) =>
        run(
          count,
          service(
            budget,
            () => 10,
            100,
            () => 0,
            arrivals
          ).request
        )
      const first = yield* makeBudget(limits)
      yield* send(first, 70)
      const recent = yield* first.recent
      assert.strictEqual(recent.answered.length, 70)
      const start = yield* Clock.currentTimeMillis
      const second = yield* makeBudget({ ...limits, recent })
      yield* send(second, 130)
      assert.isAtMost(fullest(arrivals, 10_000), 100)
      // 30 at once, 70 when the window of the first run is over, and 30 in the next.
      assert.isAtLeast(arrivals.filter((at) => at >= start && at < start + 2000).length, 29)
      assert.isAtMost(Math.max(...arrivals) - start, 21_500)

      // The limit of the run before holds before the first response names it.
      const answered = Array<number>(20).fill(yield* Clock.currentTimeMillis)
      const third = yield* makeBudget({ ...limits, recent: { burst: 20, windowMs: 10_000, answered } })
      const early = yield* Effect.forkChild(third.acquire(1))
      yield* TestClock.adjust(9_999)
      assert.isUndefined(early.pollUnsafe())
      yield* TestClock.adjust(10)
      yield* Fiber.join(early)

      // Times that cannot belong to the last window, for example after the clock was set.
      const fourth = yield* makeBudget({
        ...limits,
        recent: { ...recent, answered: [start - 60_000, start + 3_600_000, Number.NaN] }
      })
      assert.strictEqual(fourth.usage().inWindow, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("no request is sent for a whole window after a 429 without Retry-After", () =>
    Effect.gen(function* () {
      const budget = yield* makeBudget(limits)
      const slot = yield* budget.acquire(1)
      yield* slot.release({ max: 100, remaining: 90, refusedForMs: "unspecified" })
      const next = yield* Effect.forkChild(budget.acquire(1))
      yield* TestClock.adjust(9_999)
      assert.isUndefined(next.pollUnsafe())
      yield* TestClock.adjust(10)
      yield* Fiber.join(next)
    }).pipe(Effect.scoped)
  )

  for (const [direction, hours] of [
    ["forward", 2],
    ["back", -2]
  ] as const)
    it.effect(`a clock that is set ${direction} neither frees the slots of a window nor keeps them`, () =>
      Effect.gen(function* () {
        const clock = yield* Clock.clockWith(Effect.succeed)
        let offset = 0
        const wallClock = () => clock.currentTimeMillisUnsafe() + offset
        const settable: Clock.Clock = Object.assign(Object.create(clock), {
          currentTimeMillisUnsafe: wallClock,
          currentTimeMillis: Effect.sync(wallClock)
        })
        yield* Effect.gen(function* () {
          const budget = yield* makeBudget({ ...limits, burst: 1 })
          const slot = yield* budget.acquire(1)
          yield* slot.release({ max: 1 })
          offset = hours * 3_600_000
          const next = yield* Effect.forkChild(budget.acquire(1))
          yield* TestClock.adjust(9_990)
          assert.isUndefined(next.pollUnsafe())
          yield* TestClock.adjust(20)
          assert.isDefined(next.pollUnsafe())
        }).pipe(Effect.provideService(Clock.Clock, settable))
      }).pipe(Effect.scoped)
    )

  it.effect("requests with an expiring cursor precede lists, and lists precede children", () =>
    Effect.gen(function* () {
      const budget = yield* makeBudget({ ...limits, burst: 1 })
      const order: Array<number> = []
      const slot = yield* budget.acquire(1)
      for (const priority of [2, 1, 0] as const)
        yield* Effect.forkChild(
          budget.acquire(priority).pipe(
            Effect.tap(() => Effect.sync(() => order.push(priority))),
            Effect.flatMap((slot) => slot.release({ max: 1 }))
          )
        )
      yield* TestClock.adjust(1)
      yield* slot.release({ max: 1 })
      yield* TestClock.adjust(60_000)
      assert.deepStrictEqual(order, [0, 1, 2])
    }).pipe(Effect.scoped)
  )

  it.effect("a waiting request fails with the time of the reset when only the reserve is left", () =>
    Effect.gen(function* () {
      const budget = yield* makeBudget({ ...limits, reservePerDay: 500 })
      const slot = yield* budget.acquire(1)
      const waiting = yield* Effect.forkChild(budget.acquire(1))
      yield* slot.release({ max: 100, remaining: 90, dailyRemaining: 500, dailyResetMs: 3_600_000 })
      yield* TestClock.adjust(1)
      const exit = yield* Fiber.await(waiting)
      assert.isTrue(Exit.isFailure(exit))
      assert.include(JSON.stringify(exit), '"resumeAt":3600000')
    }).pipe(Effect.scoped)
  )

  it.effect("the requests of another client are left out of every window", () =>
    Effect.gen(function* () {
      const { arrivals, request } = service(
        yield* makeBudget(limits),
        () => 50,
        100,
        () => 40
      )
      yield* run(400, request)
      assert.isAtMost(fullest(arrivals, 10_000), 60)
    }).pipe(Effect.scoped)
  )

  it.effect("a request that is cancelled while it waits uses no budget", () =>
    Effect.gen(function* () {
      const budget = yield* makeBudget({ ...limits, burst: 1 })
      const slot = yield* budget.acquire(1)
      const givenUp = yield* Effect.forkChild(budget.acquire(1))
      yield* TestClock.adjust(1)
      yield* Fiber.interrupt(givenUp)
      yield* slot.release({ max: 1 })
      const next = yield* Effect.forkChild(budget.acquire(1))
      yield* TestClock.adjust(10_010)
      yield* Fiber.join(next)
      assert.strictEqual(budget.usage().inWindow, 1)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "no request waits forever when the daily limit is reached, also after others were cancelled",
    () =>
      Effect.gen(function* () {
        const budget = yield* makeBudget({ ...limits, reservePerDay: 500 })
        const slot = yield* budget.acquire(1)
        const group = yield* Effect.forkChild(
          Effect.all([budget.acquire(1), budget.acquire(1), budget.acquire(1)], { concurrency: 3, discard: true })
        )
        yield* TestClock.adjust(1)
        yield* slot.release({ max: 100, remaining: 90, dailyRemaining: 500 })
        yield* TestClock.adjust(1)
        assert.isTrue(Exit.isFailure(yield* Fiber.await(group)))
        assert.isTrue(Exit.isFailure(yield* Effect.exit(budget.acquire(1))))
      }).pipe(Effect.scoped),
    5000
  )

  it.effect("after a refusal a single request is sent, and the others after its response", () =>
    Effect.gen(function* () {
      const budget = yield* makeBudget(limits)
      const first = yield* budget.acquire(1)
      yield* first.release({ max: 100, remaining: 99, refusedForMs: 2000 })
      const granted: Array<Slot> = []
      yield* Effect.forkChild(
        Effect.forEach(
          [1, 2, 3],
          () => Effect.tap(budget.acquire(1), (slot) => Effect.sync(() => granted.push(slot))),
          {
            concurrency: 3
          }
        )
      )
      yield* TestClock.adjust(5000)
      assert.strictEqual(granted.length, 1)
      yield* granted[0]!.release({ max: 100, remaining: 98 })
      yield* TestClock.adjust(1)
      assert.strictEqual(granted.length, 3)
    }).pipe(Effect.scoped)
  )

  it.effect("a reserve of at least the daily limit is an error, and a smaller one exhausts the budget", () =>
    Effect.gen(function* () {
      for (const [dailyMax, syncsPerDay, kind] of [
        [1000, 0, "Failure"],
        [600, 0, "Failure"],
        [1001, 0, "BudgetExhausted"],
        [1500, 9000, "BudgetExhausted"]
      ] as const) {
        const budget = yield* makeBudget({ ...limits, reservePerDay: 1000, syncsPerDay })
        const slot = yield* budget.acquire(1)
        yield* slot.release({ max: 100, remaining: 99, dailyMax, dailyRemaining: Math.min(dailyMax - 1, 1000) })
        const result = JSON.stringify(yield* Effect.result(budget.acquire(1)))
        assert.include(result, `"_tag":"${kind}"`)
        if (kind === "Failure") assert.match(result, /"ReserveTooLarge","reserve":1000,"dailyMax":(1000|600)/)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("a wait of more than an hour fails with the time to continue, and a shorter one is waited for", () =>
    Effect.gen(function* () {
      for (const seen of [{ refusedForMs: 3 * 365 * 86_400_000 }, { windowMs: 1e11, max: 1 }]) {
        const budget = yield* makeBudget(limits)
        const slot = yield* budget.acquire(1)
        yield* slot.release({ max: 100, remaining: 0, ...seen })
        const result = yield* Effect.result(budget.acquire(1))
        assert.match(JSON.stringify(result), /"BudgetExhausted".*requires a wait of \d+ minutes.*"resumeAt":\d+/)
      }
      const budget = yield* makeBudget(limits)
      const slot = yield* budget.acquire(1)
      yield* slot.release({ max: 100, remaining: 99, refusedForMs: 3_500_000 })
      const next = yield* Effect.forkChild(budget.acquire(1))
      yield* TestClock.adjust(3_499_000)
      assert.isUndefined(next.pollUnsafe())
      yield* TestClock.adjust(1_000)
      yield* Fiber.join(next)
    }).pipe(Effect.scoped)
  )
})

describe("the headers of a response", () => {
  const date = "Sun, 22 Nov 2026 10:00:00 GMT"

  it("state how long to wait in seconds or as a date, and any other value is ignored", () => {
    for (const [retryAfter, expected] of [
      ["7", 7000],
      ["99999999", 99_999_999_000],
      ["Sun, 22 Nov 2026 10:00:30 GMT", 30_000],
      ["Sun, 22 Nov 2026 09:00:00 GMT", "unspecified"],
      ["-1", "unspecified"],
      ["1e9", "unspecified"],
      ["soon", "unspecified"],
      [undefined, "unspecified"]
    ] as const)
      assert.strictEqual(rateHeaders({ date, "retry-after": retryAfter }, 429).refusedForMs, expected, retryAfter)
    assert.strictEqual(rateHeaders({ "retry-after": date }, 429).refusedForMs, "unspecified")
  })

  it("do not state the end of the day if it is more than two days ahead", () => {
    const reset = (ms: number) => rateHeaders({ "x-ratelimit-daily-reset": String(ms) }, 200).dailyResetMs
    assert.strictEqual(reset(86_400_000), 86_400_000)
    assert.isUndefined(reset(1_763_800_000_000))
    assert.isUndefined(reset(5e10))
  })
})
