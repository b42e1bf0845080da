/** The limits of the service at their boundary: the window, the day, the reserve for others, refusals and the deadline. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { RequestLimits } from "../../src/settings/account.ts"
import {
  headerOf,
  headersOf,
  httpRequest,
  lengthIn,
  rateHeaders,
  retryAfterMs,
  timeOf
} from "../../src/stages/api/http.ts"
import { type Budget, makeBudget } from "../../src/stages/api/rate-limiter.ts"
import type { RateLimitSnapshot } from "../../src/stages/api/sliding-window.ts"
import { type RunEvent, RunEvents } from "../../src/values/run-event.ts"
import type { BoundRequest } from "../../src/catalog/request.ts"

const limits: RequestLimits = { burst: 10, windowMs: 10_000, reservePerDay: 0 }
const open = { max: 10, remaining: 9 }
/** Sends one request, whose response has these limits. */
const once = (budget: Budget, seen: RateLimitSnapshot = open) =>
  Effect.flatMap(budget.acquire(1), ({ release }) => release(seen))
/** How a request ends that is sent now: it may wait for `waitMs`. */
const outcome = (budget: Budget, waitMs = 0) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(budget.acquire(1))
    yield* TestClock.adjust(1)
    if (waitMs > 0) yield* TestClock.adjust(waitMs - 1)
    const exit = fiber.pollUnsafe()
    if (exit === undefined) yield* Fiber.interrupt(fiber)
    return exit === undefined ? "waits" : Exit.isSuccess(exit) ? "sent" : JSON.stringify(exit)
  })

describe("the window", () => {
  it.effect("is full with as many requests as the service allows, and frees each place a window after its answer", () =>
    Effect.gen(function* () {
      const budget = yield* makeBudget(limits)
      for (let n = 0; n < 9; n++) yield* once(budget)
      assert.strictEqual(budget.usage().inWindow, 9)
      assert.strictEqual(yield* outcome(budget), "sent")
      assert.strictEqual(yield* outcome(budget), "waits")
      assert.strictEqual(yield* outcome(budget, 9_000), "waits")
      assert.strictEqual(yield* outcome(budget, 1_010), "sent")
    }).pipe(Effect.scoped)
  )

  it.effect("does not count a request that no connection carried, and counts one without an answer", () =>
    Effect.gen(function* () {
      const budget = yield* makeBudget(limits)
      yield* once(budget, { unsent: true })
      assert.strictEqual(budget.usage().inWindow, 0)
      yield* once(budget, { unsent: false })
      assert.strictEqual(budget.usage().inWindow, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("is known after the first answer that names it: until then one request is sent at a time", () =>
    Effect.gen(function* () {
      const budget = yield* makeBudget(limits)
      const first = yield* budget.acquire(1)
      assert.strictEqual(yield* outcome(budget), "waits")
      yield* first.release({})
      yield* budget.acquire(1)
      assert.strictEqual(yield* outcome(budget), "waits")
    }).pipe(Effect.scoped)
  )

  it.effect("is as long and as large as the newest answer says", () =>
    Effect.gen(function* () {
      const budget = yield* makeBudget(limits)
      yield* once(budget, { max: 3, remaining: 2, windowMs: 500 })
      assert.deepInclude(budget.usage(), { burst: 3, windowMs: 500 })
      yield* once(budget, {})
      assert.deepInclude(budget.usage(), { burst: 3, windowMs: 500 })
      const { answered, burst, windowMs } = yield* budget.recent
      assert.deepStrictEqual([answered.length, burst, windowMs], [2, 3, 500])
      yield* TestClock.adjust(504)
      assert.deepStrictEqual((yield* budget.recent).answered, [])
      yield* TestClock.setTime(Date.parse("2026-03-05T13:00:00Z"))
      yield* once(budget, {})
      yield* TestClock.adjust(200)
      assert.deepStrictEqual(
        (yield* budget.recent).answered,
        [Date.parse("2026-03-05T13:00:00Z")],
        "when it was answered"
      )
    }).pipe(Effect.scoped)
  )
})

describe("the day", () => {
  const withReserve = { ...limits, reservePerDay: 500, syncsPerDay: 20 }
  it.effect.each([
    [521, "sent"],
    [520, "the day's requests are used up (520 left, 520 reserved for others)"],
    [519, "the day's requests are used up"],
    [0, "the day's requests are used up (0 left"]
  ] as const)("with %i requests left, of which 520 are reserved: %s", ([dailyRemaining, expected]) =>
    Effect.gen(function* () {
      const budget = yield* makeBudget(withReserve)
      yield* once(budget, { ...open, dailyRemaining })
      assert.include(yield* outcome(budget), expected)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "of fewer requests than are reserved is an error of the settings, also if a later answer does not say so",
    () =>
      Effect.gen(function* () {
        const budget = yield* makeBudget(withReserve)
        yield* once(budget, { ...open, dailyMax: 500, dailyRemaining: 900 })
        yield* once(budget, { ...open, dailyRemaining: 400 })
        assert.match(yield* outcome(budget), /"ReserveTooLarge","reserve":500,"dailyMax":500/)
      }).pipe(Effect.scoped)
  )

  it.effect("counts the requests that are in flight", () =>
    Effect.gen(function* () {
      const budget = yield* makeBudget(withReserve)
      yield* once(budget, { ...open, dailyRemaining: 522 })
      yield* budget.acquire(1)
      const second = yield* budget.acquire(1)
      assert.strictEqual(yield* outcome(budget), "waits")
      yield* second.release({ ...open, dailyRemaining: 521 })
      assert.strictEqual(yield* outcome(budget), "waits")
    }).pipe(Effect.scoped)
  )

  it.effect.each([1, 2, 5])("with %i requests more than are reserved has so many in flight at once", (left) =>
    Effect.gen(function* () {
      const budget = yield* makeBudget(withReserve)
      yield* once(budget, { ...open, dailyRemaining: 520 + left })
      const fibers = yield* Effect.forEach(Array.from({ length: 9 }), () => Effect.forkChild(budget.acquire(1)))
      yield* TestClock.adjust(1)
      assert.lengthOf(
        fibers.filter((fiber) => fiber.pollUnsafe() !== undefined),
        left
      )
    }).pipe(Effect.scoped)
  )

  it.effect("is judged by the lowest number: answers come out of order", () =>
    Effect.gen(function* () {
      const budget = yield* makeBudget(withReserve)
      yield* once(budget, { ...open, dailyRemaining: 600 })
      yield* once(budget, { ...open, dailyRemaining: 700 })
      assert.strictEqual(budget.usage().dailyRemaining, 600)
      yield* once(budget, {})
      assert.strictEqual(budget.usage().dailyRemaining, 600)
      // A day that has just begun has many more.
      yield* once(budget, { ...open, dailyRemaining: 700 })
      assert.strictEqual(budget.usage().dailyRemaining, 600)
      yield* once(budget, { ...open, dailyRemaining: 701 })
      assert.strictEqual(budget.usage().dailyRemaining, 701)
    }).pipe(Effect.scoped)
  )

  it.effect("ends at midnight in UTC if the service does not say when", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-03-05T13:00:00Z"))
      const resumeAt = (seen: RateLimitSnapshot) =>
        Effect.gen(function* () {
          const budget = yield* makeBudget(withReserve)
          yield* once(budget, { ...open, dailyRemaining: 3, ...seen })
          const at = Number(/"resumeAt":(\d+)/.exec(yield* outcome(budget))![1])
          return new Date(at).toISOString()
        }).pipe(Effect.scoped)
      assert.strictEqual(yield* resumeAt({}), "2026-03-06T00:00:00.000Z")
      assert.match(yield* resumeAt({ dailyResetMs: 3_600_000 }), /^2026-03-05T14:00:00/)
    })
  )
})

describe("a refusal", () => {
  const after = (refusedForMs: number | "unspecified") =>
    Effect.gen(function* () {
      const budget = yield* makeBudget(limits)
      yield* once(budget, { ...open, refusedForMs })
      return budget
    })
  it.effect.each([
    [0, 1000],
    [999, 1000],
    [5000, 5000],
    [3_600_000, 3_600_000],
    ["unspecified", 10_003]
  ] as const)("for %s ms lasts %i ms", ([refusedForMs, lasts]) =>
    Effect.gen(function* () {
      const budget = yield* after(refusedForMs)
      assert.strictEqual(yield* outcome(budget, lasts - 2), "waits")
      assert.strictEqual(yield* outcome(budget, 3), "sent")
    }).pipe(Effect.scoped)
  )

  it.effect("is not shortened by a later one", () =>
    Effect.gen(function* () {
      const budget = yield* makeBudget(limits)
      yield* once(budget)
      const [one, other] = [yield* budget.acquire(1), yield* budget.acquire(1)]
      yield* one.release({ refusedForMs: 8000 })
      yield* other.release({ refusedForMs: 2000 })
      assert.strictEqual(yield* outcome(budget, 7_900), "waits")
      assert.strictEqual(yield* outcome(budget, 200), "sent")
    }).pipe(Effect.scoped)
  )

  it.effect("of more than an hour ends the run, and one of an hour does not", () =>
    Effect.gen(function* () {
      assert.match(yield* outcome(yield* after(3_660_000)), /requires a wait of 61 minutes.*"resumeAt":36/)
      assert.strictEqual(yield* outcome(yield* after(3_600_000)), "waits")
    }).pipe(Effect.scoped)
  )

  it.effect("is reported to those who watch, once, with its length", () =>
    Effect.gen(function* () {
      const events: Array<RunEvent> = []
      yield* Effect.gen(function* () {
        const budget = yield* makeBudget(limits, "L")
        yield* once(budget, { ...open, refusedForMs: 5000 })
        assert.strictEqual(yield* outcome(budget, 2000), "waits")
        assert.strictEqual(yield* outcome(budget, 2000), "waits")
      }).pipe(Effect.provideService(RunEvents, (event) => void events.push(event)))
      assert.deepStrictEqual(events, [{ event: "waiting", location: "L", reason: "refused", waitMs: 5000 }])
    }).pipe(Effect.scoped)
  )

  it.effect("is not what a full window is, and a wait of less than a second is not reported", () =>
    Effect.gen(function* () {
      const events: Array<RunEvent> = []
      yield* Effect.gen(function* () {
        const budget = yield* makeBudget({ ...limits, burst: 1 })
        yield* once(budget, { max: 1, windowMs: 900 })
        assert.strictEqual(yield* outcome(budget, 100), "waits")
        assert.deepStrictEqual(events, [])
        yield* TestClock.adjust(1000)
        yield* once(budget, { max: 1, windowMs: 3000 })
        assert.strictEqual(yield* outcome(budget, 100), "waits")
      }).pipe(Effect.provideService(RunEvents, (event) => void events.push(event)))
      assert.deepStrictEqual(
        events.map((event) => ({ ...event, location: "" })),
        [{ event: "waiting", location: "", reason: "rateLimit", waitMs: 3003 }]
      )
    }).pipe(Effect.scoped)
  )
})

describe("the deadline", () => {
  it.effect("ends what waits, and lets what is in flight end first", () =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const budget = yield* makeBudget({ ...limits, deadline: now + 1000 })
      const slot = yield* budget.acquire(1)
      const waiting = yield* Effect.forkChild(budget.acquire(1))
      yield* TestClock.adjust(1000)
      assert.isUndefined(waiting.pollUnsafe())
      yield* slot.release(open)
      yield* TestClock.adjust(1)
      assert.match(JSON.stringify(yield* Fiber.await(waiting)), /the deadline has passed/)
      assert.match(JSON.stringify(yield* Effect.exit(budget.acquire(1))), /the deadline has passed/)
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    [1, "sent"],
    [0, "the deadline has passed"],
    [-1, "the deadline has passed"]
  ] as const)("in %i ms: a request is %s", ([inMs, expected]) =>
    Effect.gen(function* () {
      const budget = yield* makeBudget({ ...limits, deadline: (yield* Clock.currentTimeMillis) + inMs })
      const result = yield* Effect.exit(budget.acquire(1))
      assert.include(Exit.isSuccess(result) ? "sent" : JSON.stringify(result), expected)
    }).pipe(Effect.scoped)
  )
})

describe("the headers of a response", () => {
  const named = (name: string, value: string, status = 200) => rateHeaders({ [name]: value }, status)
  it.each([
    ["x-ratelimit-max", "max", "100", 100],
    ["x-ratelimit-max", "max", "0", undefined],
    ["x-ratelimit-max", "max", "-1", undefined],
    ["x-ratelimit-max", "max", "many", undefined],
    ["x-ratelimit-remaining", "remaining", "0", 0],
    ["x-ratelimit-remaining", "remaining", "7", 7],
    ["x-ratelimit-interval-milliseconds", "windowMs", "10000", 10_000],
    ["x-ratelimit-interval-milliseconds", "windowMs", "0", undefined],
    ["x-ratelimit-interval-milliseconds", "windowMs", "100000000000", undefined],
    ["x-ratelimit-daily-remaining", "dailyRemaining", "0", 0],
    ["x-ratelimit-limit-daily", "dailyMax", "200000", 200_000],
    ["x-ratelimit-limit-daily", "dailyMax", "0", undefined],
    ["x-ratelimit-daily-reset", "dailyResetMs", "172800000", 172_800_000],
    ["x-ratelimit-daily-reset", "dailyResetMs", "172800001", undefined]
  ] as const)("%s: %s is %s", (header, name, value, expected) =>
    assert.strictEqual(named(header, value)[name], expected)
  )

  it("refuse only with the status 429", () => {
    assert.isFalse("refusedForMs" in named("retry-after", "5"))
    assert.isFalse("refusedForMs" in named("retry-after", "soon", 503))
    for (const status of [400, 403, 500, 502, 503, 599])
      assert.strictEqual(named("retry-after", "5", status).refusedForMs, 5000, String(status))
    assert.strictEqual(named("retry-after", "5", 429).refusedForMs, 5000)
    assert.strictEqual(retryAfterMs({ "retry-after": " 0 " }), 0)
    assert.isUndefined(retryAfterMs({}))
    assert.isUndefined(timeOf({ date: "today" }))
  })

  it("have one value each, and a length of digits only", () => {
    assert.strictEqual(headerOf({ a: ["1", "2"] }, "a"), "1")
    assert.strictEqual(headerOf({ a: "1" }, "a"), "1")
    for (const [length, expected] of [
      ["12", 12],
      ["0", 0],
      ["1e3", undefined],
      ["-1", undefined],
      ["9".repeat(16), undefined]
    ] as const)
      assert.strictEqual(lengthIn({ "content-length": length }), expected)
    assert.isUndefined(lengthIn({}))
  })
})

describe("a request", () => {
  const bound = (method: "GET" | "POST", parameters: object) =>
    ({ method, path: "/x", parameters }) as unknown as BoundRequest
  it("has its parameters in the address, a list one by one, or in the body", () => {
    assert.deepStrictEqual(httpRequest(bound("GET", {})), { method: "GET", path: "/x" })
    assert.deepStrictEqual(httpRequest(bound("GET", { a: "1 &", b: [1, 2], c: true })), {
      method: "GET",
      path: "/x?a=1+%26&b=1&b=2&c=true"
    })
    assert.deepStrictEqual(httpRequest(bound("POST", { a: [1] })), { method: "POST", path: "/x", body: '{"a":[1]}' })
  })

  it("has the token, the version, and a type only with a body", () => {
    const get = headersOf(bound("GET", {}), "secret", "v3") as Record<string, string>
    assert.deepInclude(get, { authorization: "Bearer secret", version: "v3", accept: "application/json" })
    assert.isFalse("content-type" in get)
    assert.deepInclude(headersOf(bound("POST", {}), "t", "v3"), { "content-type": "application/json" })
  })
})

describe("a header of the rate limit", () => {
  it.each(["", " ", "unknown", "-1", "1e3", "12 requests", "NaN"])("that is %j says nothing", (text) => {
    const names = ["x-ratelimit-max", "x-ratelimit-remaining", "x-ratelimit-daily-remaining", "x-ratelimit-limit-daily"]
    const { dailyMax, dailyRemaining, max, remaining } = rateHeaders(
      Object.fromEntries(names.map((one) => [one, text])),
      200
    )
    assert.deepStrictEqual([dailyMax, dailyRemaining, max, remaining], [undefined, undefined, undefined, undefined])
  })

  it("of 0 says that nothing is left", () =>
    assert.strictEqual(rateHeaders({ "x-ratelimit-daily-remaining": "0" }, 200).dailyRemaining, 0))
})
