/** A service that counts the requests of two programs in one sliding window, and refuses what is over its limit. */
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Budget } from "../../src/api/rate-limiter.ts"
import { randomFrom } from "./random.ts"

const windowMs = 10_000
const max = 100

/** Moments of the other program's requests, in milliseconds from the start. */
export const neighbours = {
  /** One after the other, a fifth early or late. */
  steady: (perWindow: number, random: () => number, from = 0) =>
    times((n) => from + (n + (random() - 0.5) * 0.4) * (windowMs / perWindow), (end - from) / (windowMs / perWindow)),
  /** As independent users cause them. */
  irregular: (perWindow: number, random: () => number, from = 0) => {
    const moments: Array<number> = []
    for (let at = from; at < end; at += (-Math.log(1 - random()) * windowMs) / perWindow) moments.push(at)
    return moments
  },
  /** So many at once, each time this has passed. */
  bursts: (count: number, everyMs: number, from = 0) =>
    times((n) => from + Math.floor(n / count) * everyMs + (n % count), ((end - from) / everyMs) * count)
}
const end = 400_000
const times = (at: (n: number) => number, count: number) => Array.from({ length: Math.floor(count) }, (_, n) => at(n))

export interface Beside {
  /** Of our last request to be counted. */
  readonly lastMs: number
  readonly oursRefused: number
  readonly theirs: number
  readonly theirsRefused: number
  /** When each of theirs was refused. */
  readonly refusedAt: ReadonlyArray<number>
}

/** Sends `count` requests beside the neighbour's; each is counted at a random moment of its latency. */
export const runBeside = Effect.fnUntraced(function* (
  budget: Budget,
  moments: ReadonlyArray<number>,
  count: number,
  { latencyMs = 300, seed = 1, concurrency = 16 } = {}
) {
  const random = randomFrom(seed)
  const start = yield* Clock.currentTimeMillis
  /** The neighbour sends for some time before we begin. */
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
      yield* slot.release({ max, remaining, windowMs, ...(!taken && { refusedForMs: "unsaid" as const }) })
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
