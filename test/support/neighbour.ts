/** A service that counts the requests of two programs in one sliding window, and refuses those above its limit. */
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Budget } from "../../src/stages/api/rate-limiter.ts"
import { randomFrom } from "./random.ts"

const windowMs = 10_000
const max = 100

/** The times of the other program's requests, in milliseconds from the start. */
export const neighbours = {
  /** Sequential, up to a fifth of the interval early or late. */
  steady: (perWindow: number, random: () => number, from = 0) =>
    times((n) => from + (n + (random() - 0.5) * 0.4) * (windowMs / perWindow), (end - from) / (windowMs / perWindow)),
  /** As caused by independent users. */
  irregular: (perWindow: number, random: () => number, from = 0) => {
    const moments: Array<number> = []
    for (let at = from; at < end; at += (-Math.log(1 - random()) * windowMs) / perWindow) moments.push(at)
    return moments
  },
  /** `count` at once, every `everyMs` milliseconds. */
  bursts: (count: number, everyMs: number, from = 0) =>
    times((n) => from + Math.floor(n / count) * everyMs + (n % count), ((end - from) / everyMs) * count)
}
const end = 400_000
const times = (at: (n: number) => number, count: number) => Array.from({ length: Math.floor(count) }, (_, n) => at(n))

export interface Beside {
  /** The time of sluice's last counted request. */
  readonly lastMs: number
  readonly oursRefused: number
  readonly theirs: number
  readonly theirsRefused: number
  /** The times at which their requests were refused. */
  readonly refusedAt: ReadonlyArray<number>
}

/** Sends `count` requests during the neighbour's; each is counted at a random time within its latency. */
export const runBeside = Effect.fnUntraced(function* (
  budget: Budget,
  moments: ReadonlyArray<number>,
  count: number,
  { latencyMs = 300, seed = 1, concurrency = 16 } = {}
) {
  const random = randomFrom(seed)
  const start = yield* Clock.currentTimeMillis
  /** The neighbour sends for this time before sluice begins. */
  const leadMs = 30_000
  const theirs = moments.toSorted((one, other) => one - other).map((at) => start + at)
  let counted: Array<number> = []
  let [oursRefused, theirsRefused, theirsSent, lastMs, next] = [0, 0, 0, 0, 0]
  const refusedAt: Array<number> = []
  const arrive = (now: number): boolean => {
    counted = counted.filter((at) => at > now - windowMs)
    if (counted.length >= max) return false
    counted.push(now)
    return true
  }
  const theirsUntil = (now: number) => {
    for (; next < theirs.length && theirs[next]! <= now; next++) {
      theirsSent++
      if (arrive(theirs[next]!)) continue
      theirsRefused++
      refusedAt.push(theirs[next]! - start - leadMs)
    }
  }
  yield* TestClock.adjust(leadMs)
  const begun = yield* Clock.currentTimeMillis
  const request = Effect.gen(function* () {
    while (true) {
      const slot = yield* budget.acquire(1)
      const latency = random() * latencyMs
      const before = Math.floor(latency * random())
      yield* Effect.sleep(before)
      const now = yield* Clock.currentTimeMillis
      theirsUntil(now)
      const taken = arrive(now)
      const remaining = max - counted.length
      yield* Effect.sleep(Math.ceil(latency - before))
      yield* slot.release({ max, remaining, windowMs, ...(!taken && { refusedForMs: "unspecified" as const }) })
      if (taken) return void (lastMs = now - begun)
      oursRefused++
    }
  })
  const fiber = yield* Effect.forkChild(
    Effect.forEach(Array.from({ length: count }), () => request, { concurrency, discard: true })
  )
  while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust(20)
  yield* Fiber.join(fiber)
  theirsUntil(begun + lastMs)
  return { lastMs, oursRefused, theirs: theirsSent, theirsRefused, refusedAt } satisfies Beside
})
