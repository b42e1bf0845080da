import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { rateHeaders } from "../../src/api/http.ts"
import { type Budget, type Limits, type Slot, makeBudget } from "../../src/api/rate-limiter.ts"

const limits: Limits = { burst: 100, windowMs: 10_000, reservePerDay: 0 }

/** Most arrivals within any window that ends with one of them. */
const fullest = (arrivals: ReadonlyArray<number>, windowMs: number) =>
  Math.max(...arrivals.map((end) => arrivals.filter((at) => at > end - windowMs && at <= end).length))

/** A service that counts a request at a random moment of its latency; the budget must hold whenever that is. */
const service = (budget: Budget, latencyMs: (n: number) => number, max = 100, others: () => number = () => 0) => {
  const arrivals: Array<number> = []
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
    it.effect(`${name}: no window ever holds more than allowed, and 0.97 of the budget are used`, () =>
      Effect.gen(function* () {
        const { arrivals, request } = service(yield* makeBudget(limits), latency)
        const start = yield* Clock.currentTimeMillis
        yield* run(600, request)
        assert.strictEqual(arrivals.length, 600)
        assert.isAtMost(fullest(arrivals, 10_000), 100)
        // A hundred at once, and the next when the window of the first is over: nobody can be faster.
        assert.isAtMost(arrivals.toSorted((one, other) => one - other)[500]! - start, 50_000 / 0.97)
      }).pipe(Effect.scoped)
    )

  it.effect("the first answer's limits hold at once, whatever was expected", () =>
    Effect.gen(function* () {
      const { arrivals, request } = service(yield* makeBudget(limits), () => 20, 25)
      const elapsed = yield* run(100, request)
      assert.isAtMost(fullest(arrivals, 10_000), 25)
      assert.isAtMost(elapsed, 30_000 / 0.95)
    }).pipe(Effect.scoped)
  )

  it.effect("a run that begins behind another's requests waits for them to leave the window", () =>
    Effect.gen(function* () {
      const start = yield* Clock.currentTimeMillis
      let now = start
      const { arrivals, request } = service(
        yield* makeBudget(limits),
        () => 10,
        100,
        () => (now - start < 9000 ? 70 : 0)
      )
      const ticking = yield* Effect.forkChild(
        Effect.forever(
          Effect.sleep(10).pipe(Effect.tap(() => Clock.currentTimeMillis.pipe(Effect.map((at) => (now = at)))))
        )
      )
      yield* run(100, request)
      yield* Fiber.interrupt(ticking)
      assert.isAtMost(arrivals.filter((at) => at - start < 9000).length, 30)
    }).pipe(Effect.scoped)
  )

  it.effect("after a 429 without Retry-After nothing is sent for a whole window", () =>
    Effect.gen(function* () {
      const budget = yield* makeBudget(limits)
      const slot = yield* budget.acquire(1)
      yield* slot.release({ max: 100, remaining: 90, refusedForMs: "unsaid" })
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
        let setBy = 0
        const wall = () => clock.currentTimeMillisUnsafe() + setBy
        const settable: Clock.Clock = Object.assign(Object.create(clock), {
          currentTimeMillisUnsafe: wall,
          currentTimeMillis: Effect.sync(wall)
        })
        yield* Effect.gen(function* () {
          const budget = yield* makeBudget({ ...limits, burst: 1 })
          const slot = yield* budget.acquire(1)
          yield* slot.release({ max: 1 })
          setBy = hours * 3_600_000
          const next = yield* Effect.forkChild(budget.acquire(1))
          yield* TestClock.adjust(9_990)
          assert.isUndefined(next.pollUnsafe())
          yield* TestClock.adjust(20)
          assert.isDefined(next.pollUnsafe())
        }).pipe(Effect.provideService(Clock.Clock, settable))
      }).pipe(Effect.scoped)
    )

  it.effect("a live cursor goes before lists, and lists before fan-outs", () =>
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

  it.effect("the day's reserve is left to others, and everyone who waits is told", () =>
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

  it.effect("another client's share is left to it, window after window", () =>
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

  it.effect("a request that was given up while waiting leaves no hole in the budget", () =>
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
    "when the day is spent, nobody waits for ever, whoever gave up beside another's refusal",
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

  it.effect("after a refusal one request goes alone, and the others when it was answered", () =>
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

  it.effect("a reserve that is the whole day is a wrong setting, told with what to write", () =>
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

  it.effect("a wait of more than an hour is told, with when it goes on; a shorter one is waited out", () =>
    Effect.gen(function* () {
      for (const seen of [{ refusedForMs: 3 * 365 * 86_400_000 }, { windowMs: 1e11, max: 1 }]) {
        const budget = yield* makeBudget(limits)
        const slot = yield* budget.acquire(1)
        yield* slot.release({ max: 100, remaining: 0, ...seen })
        const result = yield* Effect.result(budget.acquire(1))
        assert.match(JSON.stringify(result), /"BudgetExhausted".*has us wait for \d+ minutes.*"resumeAt":\d+/)
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

describe("the headers of an answer", () => {
  const date = "Sun, 22 Nov 2026 10:00:00 GMT"

  it("say how long to wait in seconds or by a moment, and nothing where it is neither", () => {
    for (const [said, expected] of [
      ["7", 7000],
      ["99999999", 99_999_999_000],
      ["Sun, 22 Nov 2026 10:00:30 GMT", 30_000],
      ["Sun, 22 Nov 2026 09:00:00 GMT", "unsaid"],
      ["-1", "unsaid"],
      ["1e9", "unsaid"],
      ["soon", "unsaid"],
      [undefined, "unsaid"]
    ] as const)
      assert.strictEqual(rateHeaders({ date, "retry-after": said }, 429).refusedForMs, expected, said)
    assert.strictEqual(rateHeaders({ "retry-after": date }, 429).refusedForMs, "unsaid")
  })

  it("say nothing of the day's end where it is more than two days off: that is a moment, or a mistake", () => {
    const reset = (ms: number) => rateHeaders({ "x-ratelimit-daily-reset": String(ms) }, 200).dailyResetMs
    assert.strictEqual(reset(86_400_000), 86_400_000)
    assert.isUndefined(reset(1_763_800_000_000))
    assert.isUndefined(reset(5e10))
  })
})
