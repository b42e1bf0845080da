/** Runs with another program that uses the same rate limit, in virtual time; `bench/neighbours.ts` prints the figures. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { OtherClients, type OwnRequest } from "../../src/stages/api/other-clients.ts"
import { makeBudget } from "../../src/stages/api/rate-limiter.ts"
import { neighbours, runBeside } from "../support/neighbour.ts"
import { randomFrom } from "../support/random.ts"

const limits = { burst: 100, windowMs: 10_000, reservePerDay: 0 }
const beside = (moments: ReadonlyArray<number>, seed: number) =>
  Effect.flatMap(makeBudget(limits), (budget) => runBeside(budget, moments, 600, { seed })).pipe(Effect.scoped)
const random = () => randomFrom(7)
const { steady, irregular, bursts } = neighbours

describe("with another program that began before sluice", () => {
  // `left` requests of each window set the shortest time; `share` of that rate has to be reached.
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<number>, left: number, share: number]> = [
    ["40 sequential requests", steady(40, random()), 60, 0.85],
    ["10 sequential requests", steady(10, random()), 90, 0.9],
    ["40 requests at once", bursts(40, 10_000, 3000), 60, 0.9],
    ["20 requests at once, twice", bursts(20, 5000, 1000), 60, 0.9]
  ]
  for (const [name, moments, left, share] of cases)
    it.effect(`${name} in a window: no request of either is refused, and the rest of the budget is used`, () =>
      Effect.gen(function* () {
        for (const seed of [1, 2]) {
          const { lastMs, oursRefused, theirsRefused } = yield* beside(moments, seed)
          assert.deepStrictEqual({ oursRefused, theirsRefused }, { oursRefused: 0, theirsRefused: 0 }, `seed ${seed}`)
          assert.isAtMost(lastMs, ((600 / left) * 10_000) / share)
        }
      })
    )
})

describe("with many users who send 40 requests in a window at random times", () => {
  it.effect("at most 2 requests of sluice and 1 % of theirs are refused, and 75 % of the rest is used", () =>
    Effect.gen(function* () {
      for (const seed of [1, 2, 3]) {
        const { lastMs, oursRefused, theirs, theirsRefused } = yield* beside(irregular(40, random()), seed)
        assert.isAtMost(oursRefused, 2, `seed ${seed}`)
        // No margin is enough for every burst of theirs.
        assert.isAtMost(theirsRefused, theirs / 100, `seed ${seed}`)
        assert.isAtMost(lastMs, 100_000 / 0.75)
      }
    })
  )
})

describe("with another program that begins while sluice fills every window", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<number>]> = [
    ["40 sequential requests", steady(40, random(), 53_000)],
    ["20 requests at random times", irregular(20, random(), 53_000)],
    ["30 requests at once", bursts(30, 10_000, 53_000)]
  ]
  for (const [name, moments] of cases)
    it.effect(
      `${name} in a window: none of its requests is refused after four windows, and at most 8 of those of sluice`,
      () =>
        Effect.gen(function* () {
          for (const seed of [1, 2]) {
            const { oursRefused, refusedAt } = yield* beside(moments, seed)
            assert.isAtMost(oursRefused, 8, `seed ${seed}`)
            assert.isBelow(Math.max(0, ...refusedAt), 23_000 + 40_000, `seed ${seed}`)
          }
        })
    )

  it.effect("sluice uses the whole budget again a minute after the other program has ended", () =>
    Effect.gen(function* () {
      const moments = steady(80, random()).filter((at) => at < 55_000)
      const { lastMs, oursRefused, theirsRefused } = yield* beside(moments, 1)
      assert.deepStrictEqual({ oursRefused, theirsRefused }, { oursRefused: 0, theirsRefused: 0 })
      // 25 s and a minute at 15 requests in a window, the rest at 99.
      assert.isAtMost(lastMs, 150_000)
    })
  )
})

it("no request of sluice is taken for one of another program, however long it takes and whenever the service counts it", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const draw = randomFrom(seed)
    const [windowMs, burst] = [1000, 100]
    const all = Array.from({ length: 120 }, () => {
      const sent = draw() * 10_000
      const answered = sent + (draw() < 0.1 ? draw() * 3500 : draw() * 200)
      return { sent, answered, counted: sent + draw() * (answered - sent) }
    })
    const others = new OtherClients([])
    const own = new Map<(typeof all)[number], OwnRequest>()
    const moments = all.flatMap((one) => [
      { at: one.sent, happens: () => void own.set(one, others.sent(one.sent)) },
      {
        at: one.answered,
        happens: () => {
          const used = all.filter(({ counted }) => counted <= one.counted && counted > one.counted - windowMs).length
          others.ended(own.get(one)!, one.answered, windowMs, { used, burst, windowMs })
        }
      }
    ])
    for (const { at, happens } of moments.toSorted((one, other) => one.at - other.at)) {
      happens()
      assert.isFalse(others.areActive, `seed ${seed}, ${at}`)
    }
  }
})
