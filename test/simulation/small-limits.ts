/** Draws limits of the program so small that the world crosses them. */
import type { Limits } from "../../src/values/limits.ts"
import type { Dice, World } from "./world.ts"

/** What takes one transaction, statement or question takes several, or the program turns to its other way. */
export const withSmallLimits = (world: World, { chance, pick }: Dice): World => {
  if (!chance(0.5)) return world
  const all: Partial<Limits> = {
    batchBytes: pick(1, 2000, 20_000),
    batchRecords: pick(1, 4, 20),
    batchTables: pick(1, 2),
    sliceBytes: pick(1, 300),
    readBytes: pick(1, 3000),
    backlogBytes: pick(1, 5000),
    parents: pick(1, 2, 7),
    firstParents: pick(1, 3),
    failuresInARow: pick(0, 1, 3),
    changedKeys: pick(0, 2),
    keptChangedKeys: pick(0, 2, 10),
    wideRows: pick(1, 3),
    rowsTogether: pick(1, 10),
    compressedRows: pick(0, 20)
  }
  const small = Object.fromEntries(Object.entries(all).filter(() => chance(0.4)))
  return { ...world, small: { ...world.small, ...small } }
}
