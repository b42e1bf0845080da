/** A few scenarios of in-process.ts with every test run; in-process.ts runs thousands of them. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { simulate } from "./in-process.ts"
import { restoreDisk } from "./machine.ts"

describe("a simulated scenario of faults, changes and kills", () => {
  afterAll(() => restoreDisk())

  it.each(Array.from({ length: 12 }, (_, index) => index + 1))(
    "with seed %i ends with every table equal to the service",
    { tags: ["slow"], timeout: 60_000 },
    async (seed) => {
      const { wrong, events } = await simulate(seed)
      assert.deepStrictEqual(wrong, [], events.join("\n"))
    }
  )
})
