/**
 * sluice and another client of the same account, in virtual time: seconds for 600 requests, the refused requests of each,
 * and the minimum of seconds that the other client leaves.
 *
 *     node_modules/.bin/node bench/neighbours.ts
 */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeBudget } from "../src/stages/api/rate-limiter.ts"
import { neighbours, runBeside } from "../test/support/neighbour.ts"
import { randomFrom } from "../test/support/random.ts"

const { steady, irregular, bursts } = neighbours
const random = () => randomFrom(7)
/** Times of the other client's requests, and requests per window that it leaves; it starts before sluice or 23 s after. */
const cases: Readonly<Record<string, readonly [ReadonlyArray<number>, number]>> = {
  nobody: [[], 100],
  "steady 10": [steady(10, random()), 90],
  "steady 40": [steady(40, random()), 60],
  "steady 80": [steady(80, random()), 20],
  "irregular 10": [irregular(10, random()), 90],
  "irregular 40": [irregular(40, random()), 60],
  "bursts of 40": [bursts(40, 10_000, 3000), 60],
  "2 bursts of 20": [bursts(20, 5000, 1000), 60],
  "later steady 40": [steady(40, random(), 53_000), 60],
  "later bursts of 30": [bursts(30, 10_000, 53_000), 70],
  "later irregular 20": [irregular(20, random(), 53_000), 80]
}
console.log("case                 least s   actual s   ours refused   theirs refused   of theirs")
for (const [name, [moments, left]] of Object.entries(cases)) {
  const budget = Effect.flatMap(makeBudget({ burst: 100, windowMs: 10_000, reservePerDay: 0 }), (budget) =>
    runBeside(budget, moments, 600)
  )
  const result = await Effect.runPromise(budget.pipe(Effect.scoped, Effect.provide(TestClock.layer())))
  const cells = [((600 / left) * 10).toFixed(1), (result.lastMs / 1000).toFixed(1), result.oursRefused]
  console.log(
    [
      name.padEnd(20),
      ...[...cells, result.theirsRefused, result.theirs].map((cell, n) =>
        String(cell).padStart([8, 11, 15, 17, 12][n]!)
      )
    ].join("")
  )
}
