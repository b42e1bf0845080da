/** A few bad weeks with every test run; more of them: see scenario.ts. */
import { assert, describe, it } from "@effect/vitest"
import { simulate } from "./scenario.ts"

describe("a bad week", () => {
  it.each([1, 2])(
    "of seed %i ends with every table equal to the service",
    async (seed) => {
      const { wrong, events, flags } = await simulate(seed)
      assert.deepStrictEqual(wrong, [], JSON.stringify({ flags, events }))
    },
    400_000
  )
})
