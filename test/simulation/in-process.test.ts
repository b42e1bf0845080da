/** Some of the bad weeks of in-process.ts with every test run; thousands of them: see there. */
import { assert, describe, it } from "@effect/vitest"
import { simulate } from "./in-process.ts"

describe("a bad week on a clock of its own", () => {
  it.each(Array.from({ length: 12 }, (_, index) => index + 1))(
    "of seed %i ends with every table equal to the service",
    async (seed) => {
      const { wrong, story } = await simulate(seed)
      assert.deepStrictEqual(wrong, [], story.join("\n"))
    },
    60_000
  )
})
