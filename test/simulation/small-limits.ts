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
    warehouse: { keptChangedKeys: pick(0, 2, 10), rowsTogether: pick(1, 10) }
  }
  return withSome(world, all, () => chance(0.4))
}

/** Of those that were drawn later. What no right answer can come through is drawn so that it still does. */
const withMore = (world: World, { chance, pick }: Dice): World => {
  if (!chance(0.6)) return world
  const all: SmallLimits = {
    api: {
      bodyBytes: pick(3000, 8000, 20_000),
      attempts: pick(1, 2),
      fileAttempts: pick(1, 2),
      throttledMs: pick(0, 5000),
      waitMs: pick(5000, 10_000),
      redirects: pick(0, 1),
      hostWaitMs: pick(0, 1000),
      clockSeconds: pick(4, 6)
    },
    extract: {
      pageRecords: pick(3, 8),
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
      smallTables: pick(1, 4)
    },
    publish: { changedShare: pick(0, 0.1), replacedShare: pick(0, 0.05), growth: pick(0, 1.01) }
  }
  return withSome(world, all, () => chance(0.25))
}

/** Some answers are larger than the program reads: what has them is never complete, and says why. */
export const isCut = ({ small }: World): boolean =>
  small?.api?.bodyBytes !== undefined || small?.extract?.pageRecords !== undefined

const withSome = (world: World, drawn: SmallLimits, isChosen: () => boolean): World => {
  const chosen = (own: object) => Object.fromEntries(Object.entries(own).filter(isChosen))
  const small = Object.entries(drawn).map(([room, own]) => [room, { ...world.small?.[room as Room], ...chosen(own) }])
  return { ...world, small: { ...world.small, ...Object.fromEntries(small) } }
}

/** Each has dice of its own. */
export const withSmallLimits = [withFew, withMore]

/** Rooms and limits that no world plays, with the tests that draw them small, or why none can. */
const unplayed: Readonly<Record<string, string>> = {
  pipe: "publish/every-format",
  serve: "serve/events, jobs, access",
  "api.errorBytes": "an error that is cut says less: api/response-body",
  "load.rowLength": "a record that is too long is none of the service's: load/row-text, scan",
  "warehouse.wideColumns": "worlds have no fields as columns: warehouse/wide-names, limits",
  "warehouse.wideRows": "the same: publish/wide-tables"
}

/** How many of the worlds have crossed each limit. */
export const crossings = (worlds: ReadonlyArray<ReadonlySet<string>>): ReadonlyMap<string, number> => {
  const names = Object.entries(usualLimits).flatMap(([room, own]) =>
    Object.keys(own).flatMap((name) => (room in unplayed || `${room}.${name}` in unplayed ? [] : [`${room}.${name}`]))
  )
  return new Map(names.map((name) => [name, worlds.filter((crossed) => crossed.has(name)).length]))
}
