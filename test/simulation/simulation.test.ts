/** A few small worlds with every test run, and 100 with all tests; `npm run simulate` plays any number. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { restoreDisk } from "./disk.ts"
import { play } from "./scenario.ts"
import { drawSmall } from "./small-world.ts"
import { type World, calmNight, calmWorld, draw } from "./world.ts"

const seeds = (count: number) => Array.from({ length: count }, (_, index) => 1 + index)

const agrees = async (drawn: World) => {
  const { events, world, wrong } = await play(drawn)
  assert.deepStrictEqual(wrong, [], JSON.stringify({ world, events }, null, 1))
}

describe("a world of faults, changes and kills", () => {
  // Opens the warehouse that all worlds use.
  beforeAll(() => play({ ...calmWorld, collections: ["locations"], nights: [] }))
  afterAll(() => restoreDisk())

  // Others take more than a second of CPU.
  it.each([1, 3, 4, 5, 6])("every oracle agrees with a small world of seed %i", (seed) => agrees(drawSmall(seed)))

  it("a list that the next night resumes is complete as of its first page", () =>
    agrees({
      ...calmWorld,
      collections: ["products"],
      scale: 0.3,
      nights: [{ ...calmNight, interruption: { kind: "kill", at: 28 } }, calmNight]
    }))

  it.each(seeds(100))("every oracle agrees with seed %i", { tags: ["slow"] }, (seed) => agrees(draw(seed)))
})
