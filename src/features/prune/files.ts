/** Files in the output folder that no command needs any more. */
import * as Effect from "effect/Effect"
import { readlink, rm, stat } from "node:fs/promises"
import { basename, join, relative } from "node:path"
import type { Failure } from "../../values/failure.ts"
import { onDisk } from "../../output/files.ts"
import { namesIn } from "../../output/folder.ts"
import { setAsideIn } from "../../run/set-aside.ts"
import { outputPaths } from "../../output/paths.ts"

export interface Unneeded {
  /** Relative to the output folder. */
  readonly path: string
  readonly bytes: number
  readonly why: string
}

/** A reader that opened a release before the next one was published has had this time to finish. */
const releaseAgeMs = 24 * 3_600_000

/** Earlier releases, incomplete writes that were set aside, and damaged warehouses. `now`: epoch milliseconds. */
export const unneededFiles = (folder: string, now: number): Effect.Effect<ReadonlyArray<Unneeded>, Failure> =>
  onDisk(folder, "read", async () => {
    const { published, versions } = outputPaths(folder)
    const current = await readlink(published).then(basename, () => undefined)
    const candidates = [
      ...(await namesIn(versions))
        .filter((name) => /^\d{6,}-/.test(name) && name !== current && current !== undefined)
        .map((name) => ({ path: join(versions, name), why: "a release before the current one", age: releaseAgeMs })),
      ...(await setAsideIn(folder)).map((file) => ({ ...file, age: 0 }))
    ]
    const found: Array<Unneeded> = []
    for (const { age, path, why } of candidates)
      if (now - (await stat(path)).mtimeMs >= age)
        found.push({ path: relative(folder, path), bytes: await bytesIn(path), why })
    return found
  })

export const removeFiles = (folder: string, files: ReadonlyArray<Unneeded>): Effect.Effect<void, Failure> =>
  onDisk(folder, "removed", async () => {
    for (const { path } of files) await rm(join(folder, path), { recursive: true, force: true })
  })

/** 0 for a path that does not exist, or that another command removes meanwhile. */
const bytesIn = async (path: string, counted = new Set<number>()): Promise<number> => {
  const found = await stat(path).catch(undefinedIfMissing)
  if (found === undefined || counted.has(found.ino)) return 0
  if (!found.isDirectory()) {
    counted.add(found.ino)
    return found.size
  }
  let sum = 0
  for (const name of await namesIn(path)) sum += await bytesIn(join(path, name), counted)
  return sum
}

const undefinedIfMissing = (cause: NodeJS.ErrnoException) =>
  cause.code === "ENOENT" ? undefined : Promise.reject(cause)
