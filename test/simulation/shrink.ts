/** Makes a world that fails smaller: as few dials as possible that still fail. */
import { withParents } from "./catalogue.ts"
import type { Result } from "./scenario.ts"
import { type Night, type World, calmNight, calmWorld } from "./world.ts"

/** Plays at most this many worlds: each takes as long as a seed. */
const playsMax = 120

export const shrink = async (failing: Result, play: (world: World) => Promise<Result>): Promise<Result> => {
  let best = failing
  for (let plays = 0, isSmaller = true; isSmaller && plays < playsMax;) {
    isSmaller = false
    for (const smaller of smallerThan(best.world)) {
      if (plays++ >= playsMax) break
      const found = await play(smaller).catch(() => undefined)
      if (found === undefined || found.wrong.length === 0) continue
      best = found
      isSmaller = true
      break
    }
  }
  return best
}

/** Worlds in which one dial less is turned, the largest steps first. */
function* smallerThan(world: World): Generator<World> {
  for (const index of world.nights.keys()) yield { ...world, nights: world.nights.toSpliced(index, 1) }
  for (const collection of world.collections.toReversed()) {
    const others = world.collections.filter((one) => one !== collection)
    if (others.length === 0 || withParents(others).length === world.collections.length) continue
    yield { ...world, collections: others, nights: world.nights.map((night) => without(night, collection)) }
  }
  for (const name of [
    "verify",
    "target",
    "formats",
    "twoLocations",
    "foreign",
    "windowKind",
    "limits",
    "habits",
    "latencyMs",
    "files",
    "commitMs"
  ] as const)
    if (JSON.stringify(world[name]) !== JSON.stringify(calmWorld[name])) yield { ...world, [name]: calmWorld[name] }
  for (const [room, own] of Object.entries(world.small ?? {}))
    for (const limit of Object.keys(own)) {
      const others = Object.entries(own).filter(([name]) => name !== limit)
      yield { ...world, small: { ...world.small, [room]: Object.fromEntries(others) } }
    }
  for (const [index, night] of world.nights.entries())
    for (const smaller of smallerNights(night)) yield { ...world, nights: world.nights.with(index, smaller) }
  if (world.contacts > 4) yield { ...world, contacts: Math.ceil(world.contacts / 2) }
}

const without = (night: Night, collection: string): Night => ({
  ...night,
  changes: night.changes.filter((change) => change.collection !== collection)
})

function* smallerNights(night: Night): Generator<Night> {
  for (const name of [
    "glitch",
    "echoesToken",
    "churn",
    "interruption",
    "clock",
    "suspended",
    "habits",
    "targetFails",
    "host"
  ] as const) {
    const { [name]: turned, ...others } = night
    if (turned !== undefined) yield others
  }
  if (night.faults !== 0) yield { ...night, faults: calmNight.faults }
  for (const index of night.changes.keys()) yield { ...night, changes: night.changes.toSpliced(index, 1) }
  if (night.full) yield { ...night, full: false }
}
