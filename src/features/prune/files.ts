/** Files in the output folder that no command needs any more. */
import * as Effect from "effect/Effect"
import { lstat, readlink } from "node:fs/promises"
import { basename, dirname, join, relative } from "node:path"
import type { Resource } from "../../catalog/resource.ts"
import type { Failure } from "../../values/failure.ts"
import { ifMissing, onDisk } from "../../output/files.ts"
import { namesIn } from "../../output/folder.ts"
import { type SetAside, setAsideIn } from "../../output/leftovers.ts"
import { isOfRelease, outputPaths } from "../../output/paths.ts"
import { storedPaths } from "../../output/stored-files.ts"
import { removeBelow } from "../../output/remove.ts"
import { unnamedAmong } from "../../stores/warehouse/stored-files.ts"

export interface Unneeded {
  /** Relative to the output folder. */
  readonly path: string
  readonly bytes: number
  readonly why: string
}

/** Earlier releases, incomplete writes that were set aside, and damaged warehouses. `now`: epoch milliseconds. */
export const unneededFiles = (folder: string, now: number): Effect.Effect<ReadonlyArray<Unneeded>, Failure> =>
  onDisk(folder, "read", async () => {
    const found: Array<Unneeded> = []
    for (const { path, why } of [...(await earlierReleases(folder, now)), ...(await setAsideIn(folder))])
      found.push({ path: relative(folder, path), bytes: await bytesIn(path), why })
    return found
  })

/** Files behind links, and recordings, that no row names: neither a current one, nor an earlier one, nor a deleted one. */
export const unnamedFiles = Effect.fn("prune.unnamedFiles")(function* (
  folder: string,
  resources: ReadonlyArray<Resource>
) {
  const stored = yield* storedPaths(folder)
  const unnamed = yield* unnamedAmong(resources, stored)
  // Where no row names any of the files, it is rather the tables that are missing.
  if (unnamed.length === stored.length) return []
  return yield* onDisk(folder, "read", () =>
    Promise.all(
      unnamed.map(async (path) => ({ path, bytes: await bytesIn(join(folder, path)), why: "no row names it" }))
    )
  )
})

/** A reader that opened a release before the next one was published has this time to finish. */
const readingMs = 24 * 3_600_000

/** The link is made with the current release: since then, nobody has opened an earlier one. */
const earlierReleases = async (folder: string, now: number): Promise<ReadonlyArray<SetAside>> => {
  const { published, versions } = outputPaths(folder)
  const link = await lstat(published).catch(ifMissing(undefined))
  if (!link?.isSymbolicLink() || now - link.mtimeMs < readingMs) return []
  const target = await readlink(published)
  // A link that sluice did not make does not say which release is current.
  if (dirname(target) !== basename(versions)) return []
  const found: Array<SetAside> = []
  for (const name of await namesIn(versions)) {
    const path = join(versions, name)
    if (
      isOfRelease(name) &&
      name !== basename(target) &&
      (await lstat(path).catch(ifMissing(undefined)))?.isDirectory()
    )
      found.push({ path, why: "a release before the current one" })
  }
  return found
}

export const removeFiles = (folder: string, files: ReadonlyArray<Unneeded>): Effect.Effect<void, Failure> =>
  onDisk(folder, "removed", async () => {
    for (const { path } of files) {
      // Each of these folders may be a link to another disk.
      const [top = "", ...below] = path.split("/")
      await removeBelow(below.length === 0 ? folder : join(folder, top), join(folder, path))
    }
  })

/** 0 for a path that another command removes meanwhile. What a link points to is not removed, so it does not count. */
const bytesIn = async (path: string, counted = new Set<number>()): Promise<number> => {
  const found = await lstat(path).catch(ifMissing(undefined))
  if (found === undefined || counted.has(found.ino)) return 0
  if (!found.isDirectory()) {
    counted.add(found.ino)
    return found.size
  }
  let sum = 0
  for (const name of await namesIn(path)) sum += await bytesIn(join(path, name), counted)
  return sum
}
