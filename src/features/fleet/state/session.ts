/** The folder of one location while a worker owns it. A snapshot counts once the database has its name. */
import type { Objects } from "./objects.ts"
import {
  type Manifest,
  derivesFrom,
  forgetDerived,
  markDerived,
  readManifest,
  removeUnused,
  restore,
  saveFolder,
  saveSealed
} from "./snapshot.ts"

export interface Session {
  /** Uploads a snapshot of a run that has ended. Returns its name. */
  readonly saveAll: () => Promise<string>
  /** Uploads what a run has sealed since the last snapshot; undefined if nothing. */
  readonly saveSealed: () => Promise<string | undefined>
  /** The database has the name of the last snapshot. */
  readonly commit: () => Promise<void>
}

/** Makes the folder ready for a run. `current`: the name of the snapshot that counts, if there is one. */
export const openSession = async (objects: Objects, location: string, folder: string, current: string | undefined) => {
  const place = { objects, location, folder }
  let base: Manifest | undefined
  let saved: Manifest | undefined
  if (current !== undefined) {
    // What this worker did after that snapshot is still there, and nobody else has done anything since.
    if ((await derivesFrom(folder)) === current) base = await readManifest(objects, current)
    else {
      await forgetDerived(folder)
      base = await restore(place, current)
      await markDerived(folder, current)
    }
  }
  return {
    saveAll: async () => {
      saved = await saveFolder(place, base)
      return saved.name
    },
    saveSealed: async () => {
      const sealed = await saveSealed(place, base)
      saved = sealed ?? saved
      return sealed?.name
    },
    commit: async () => {
      const before = base
      base = saved!
      await markDerived(folder, base.name)
      if (before !== undefined) await removeUnused(objects, location, before, base)
    }
  }
}
