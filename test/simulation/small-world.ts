/** Worlds for tests that take a second. */
import { withParents } from "./catalogue.ts"
import { type World, draw } from "./world.ts"

/** A world of the seed that takes less than a second: few tables, two nights, and nothing at the end. */
export const drawSmall = (seed: number): World => {
  const world = draw(seed)
  const chosen = withParents(world.collections.slice(0, 2)).map(({ collection }) => collection)
  const nights = world.nights.slice(0, 2).map((night) => ({
    ...night,
    changes: night.changes.filter(({ collection }) => chosen.includes(collection))
  }))
  return {
    ...world,
    collections: chosen,
    contacts: Math.min(world.contacts, 12),
    nights,
    formats: [],
    target: false,
    files: world.files && chosen.includes("products"),
    verify: "no"
  }
}
