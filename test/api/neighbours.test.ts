/** Beside another program that uses the same budget, in virtual time; `bench/neighbours.ts` prints the figures. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeBudget } from "../../src/api/rate-limiter.ts"
import { neighbours, runBeside } from "../support/neighbour.ts"
import { randomFrom } from "../support/random.ts"

const limits = { burst: 100, windowMs: 10_000, reservePerDay: 0 }
const beside = (moments: ReadonlyArray<number>, seed: number) =>
  Effect.flatMap(makeBudget(limits), (budget) => runBeside(budget, moments, 600, { seed })).pipe(Effect.scoped)
const random = () => randomFrom(7)
const { steady, irregular, bursts } = neighbours

describe("beside another program that is there before us", () => {
  // What it leaves of a window is the least time; the share is what has to be had of that rate.
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<number>, left: number, share: number]> = [
    ["40 requests, one after the other", steady(40, random()), 60, 0.85],
    ["10 requests, one after the other", steady(10, random()), 90, 0.9],
    ["40 requests at once", bursts(40, 10_000, 3000), 60, 0.9],
    ["20 requests at once, twice", bursts(20, 5000, 1000), 60, 0.9]
  ]
  for (const [name, moments, left, share] of cases)
    it.effect(`${name} in a window: none is refused, of neither, and the rest of the budget is used`, () =>
      Effect.gen(function* () {
        for (const seed of [1, 2]) {
          const { lastMs, oursRefused, theirsRefused } = yield* beside(moments, seed)
          assert.deepStrictEqual({ oursRefused, theirsRefused }, { oursRefused: 0, theirsRefused: 0 }, `seed ${seed}`)
          assert.isAtMost(lastMs, ((600 / left) * 10_000) / share)
        }
      })
    )
})

describe("beside many users who send 40 requests in a window at any time", () => {
  it.effect("next to none is refused, and most of what they leave is used", () =>
    Effect.gen(function* () {
      for (const seed of [1, 2, 3]) {
        const { lastMs, oursRefused, theirs, theirsRefused } = yield* beside(irregular(40, random()), seed)
        assert.isAtMost(oursRefused, 2, `seed ${seed}`)
        // No distance is enough for every coincidence of theirs.
        assert.isAtMost(theirsRefused, theirs / 100, `seed ${seed}`)
        assert.isAtMost(lastMs, 100_000 / 0.75)
      }
    })
  )
})

describe("beside another program that begins while every window is full of ours", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<number>]> = [
    ["40 requests, one after the other", steady(40, random(), 53_000)],
    ["20 requests, at any time", irregular(20, random(), 53_000)],
    ["30 requests at once", bursts(30, 10_000, 53_000)]
  ]
  for (const [name, moments] of cases)
    it.effect(`${name} in a window: it has its room after four windows, and none of it is refused from then on`, () =>
      Effect.gen(function* () {
        for (const seed of [1, 2]) {
          const { oursRefused, refusedAt } = yield* beside(moments, seed)
          assert.isAtMost(oursRefused, 8, `seed ${seed}`)
          assert.isBelow(Math.max(0, ...refusedAt), 23_000 + 40_000, `seed ${seed}`)
        }
      })
    )

  it.effect("and when it ends, everything is ours again after a minute", () =>
    Effect.gen(function* () {
      const moments = steady(80, random()).filter((at) => at < 55_000)
      const { lastMs, oursRefused, theirsRefused } = yield* beside(moments, 1)
      assert.deepStrictEqual({ oursRefused, theirsRefused }, { oursRefused: 0, theirsRefused: 0 })
      // 25 s and a minute at 15 in a window, the rest at 99.
      assert.isAtMost(lastMs, 150_000)
    })
  )
})
