/** Draws limits of the program so small that the world crosses them, and says which of them the worlds of some seeds have crossed. */
import { type SmallLimits, usualLimits } from "../../src/values/limits.ts"
import type { Dice, World } from "./world.ts"

type Room = keyof SmallLimits

/** What takes one transaction, statement or question takes several, or the program turns to its other way. */
const withFew = (world: World, { chance, pick }: Dice): World => {
  if (!chance(0.5)) return world
  const all: SmallLimits = {
    load: {
      batchBytes: pick(1, 2000, 20_000),
      batchRecords: pick(1, 4, 20),
      batchTables: pick(1, 2),
      sliceBytes: pick(1, 300),
      readBytes: pick(1, 3000),
      backlogBytes: pick(1, 5000)
    },
    extract: { parents: pick(1, 2, 7), firstParents: pick(1, 3), failuresInARow: pick(0, 1, 3) },
    publish: { changedKeys: pick(0, 2), compressedRows: pick(0, 20) },
    warehouse: { keptChangedKeys: pick(0, 2, 10), wideRows: pick(1, 3), rowsTogether: pick(1, 10) }
  }
  return withSome(world, all, () => chance(0.4))
}

/** Of those that were drawn later. What no right answer can come through is drawn so that it still does. */
const withMore = (world: World, { chance, pick }: Dice): World => {
  if (!chance(0.6)) return world
  const all: SmallLimits = {
    api: {
      attempts: pick(1, 2),
      fileAttempts: pick(1, 2),
      throttledMs: pick(0, 5000),
      waitMs: pick(5000, 10_000),
      redirects: pick(0, 1),
      hostWaitMs: pick(0, 1000),
      ignoredBytes: pick(0, 10),
      clockSeconds: pick(4, 6)
    },
    extract: {
      refusalForms: pick(0, 1),
      controls: pick(1, 3),
      deletedRows: pick(0, 1, 3),
      restarts: pick(1, 2),
      repeats: pick(0, 1),
      allRepeats: pick(0, 1, 3),
      reducedAttempts: 1,
      missedInARow: pick(0, 1),
      stepsBack: pick(0, 1, 3),
      excessPages: pick(0, 1),
      lastIds: pick(2, 4),
      firstIds: pick(1, 3),
      vainReadings: pick(0, 1),
      silentLinks: pick(1, 2),
      fileRecords: pick(1, 3)
    },
    load: {
      nearBytes: pick(1, 3000),
      drift: pick(0, 1),
      learntFields: pick(0, 1),
      scannedRows: pick(0, 1),
      enumValues: pick(0, 1)
    },
    vault: { segmentBytes: pick(1, 3000, 20_000), recentBytes: pick(0, 3000) },
    warehouse: {
      tablesTogether: pick(1, 3),
      smallRows: pick(0, 3),
      smallTables: pick(1, 4),
      wideColumns: pick(1, 2)
    },
    publish: { changedShare: pick(0, 0.1), replacedShare: pick(0, 0.05), growth: pick(0, 1.01) }
  }
  return withSome(world, all, () => chance(0.25))
}

const withSome = (world: World, drawn: SmallLimits, isChosen: () => boolean): World => {
  const chosen = (own: object) => Object.fromEntries(Object.entries(own).filter(isChosen))
  const small = Object.entries(drawn).map(([room, own]) => [room, { ...world.small?.[room as Room], ...chosen(own) }])
  return { ...world, small: { ...world.small, ...Object.fromEntries(small) } }
}

/** Each has dice of its own. */
export const withSmallLimits = [withFew, withMore]

/** Rooms that no world plays, or of which a limit is no part of what a world can be. */
const unplayed: ReadonlyArray<string> = ["pipe", "serve"]

/** How many of the worlds have crossed each limit. */
export const crossings = (worlds: ReadonlyArray<ReadonlySet<string>>): ReadonlyMap<string, number> => {
  const names = Object.entries(usualLimits).flatMap(([room, own]) =>
    unplayed.includes(room) ? [] : Object.keys(own).map((name) => `${room}.${name}`)
  )
  return new Map(names.map((name) => [name, worlds.filter((crossed) => crossed.has(name)).length]))
}
