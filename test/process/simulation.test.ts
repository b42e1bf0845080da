/** A few scenarios with every test run; scenario.ts runs more of them. */
import { assert, describe, it } from "@effect/vitest"
import { simulate } from "./scenario.ts"

describe("a scenario of faults, changes and kills", () => {
  it.each([1])(
    "with seed %i ends with every table equal to the service",
    async (seed) => {
      const { wrong, events, flags } = await simulate(seed)
      assert.deepStrictEqual(wrong, [], JSON.stringify({ flags, events }))
    },
    400_000
  )
})
