/** A few worlds with every test run, and 200 with all tests; `npm run simulate` plays any number. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { restoreDisk } from "./disk.ts"
import { play } from "./scenario.ts"
import { draw } from "./world.ts"

/** Other seeds than the usual ones: those of a merge are drawn from it, so that each merge plays new worlds. */
const first = Number(process.env["SLUICE_SIMULATION_FROM"] ?? 1)
const seeds = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index)

const agrees = async (seed: number) => {
  const { events, world, wrong } = await play(draw(seed))
  assert.deepStrictEqual(wrong, [], JSON.stringify({ world, events }, null, 1))
}

describe("a world of faults, changes and kills", () => {
  afterAll(() => restoreDisk())

  it.each(seeds(first, 5))("every oracle agrees with seed %i", agrees, 60_000)

  it.each(seeds(first + 5, 195))("every oracle agrees with seed %i", { tags: ["slow"], timeout: 120_000 }, agrees)
})
