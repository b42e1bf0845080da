/** Files in the user's cache folder, which take long to make and contain nothing of an account. */
import * as Effect from "effect/Effect"
import { randomBytes } from "node:crypto"
import { constants } from "node:fs"
import { copyFile, mkdir, readdir, rename, rm, stat } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"

/** `undefined` if the user has no home. */
export const cacheFolder = (): string | undefined => {
  try {
    return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "sluice")
  } catch {
    return undefined
  }
}

/** Copies a file of the cache to `path`. If the cache does not have it, `make` makes it at `path`, and a copy is kept. */
export const copyOrMake = Effect.fnUntraced(function* <A, E, R>(
  path: string,
  name: string,
  make: Effect.Effect<A, E, R>,
  cache = cacheFolder()
) {
  const from = cache === undefined ? undefined : join(cache, name)
  if (from !== undefined && (yield* succeeds(() => copyFile(from, path, constants.COPYFILE_FICLONE)))) return
  yield* Effect.andThen(
    Effect.promise(() => rm(path, { force: true })),
    make
  )
  if (cache !== undefined) yield* succeeds(() => keep(path, cache, name))
})

/** Others may read the cache at the same time: they find the whole file or none. */
const keep = async (path: string, cache: string, name: string) => {
  await mkdir(cache, { recursive: true, mode: 0o700 })
  const kind = name.split("-")[0]!
  for (const other of await readdir(cache)) {
    const { mtimeMs } = await stat(join(cache, other))
    if (other.startsWith(`${kind}-`) && Date.now() - mtimeMs > keptMs) await rm(join(cache, other), { force: true })
  }
  const copy = join(cache, `${name}.${randomBytes(6).toString("hex")}`)
  await copyFile(path, copy, constants.COPYFILE_FICLONE)
  await rename(copy, join(cache, name))
}

/** Files of earlier definitions are of no use. One that is still of use is made again. */
const keptMs = 30 * 24 * 60 * 60 * 1000

const succeeds = (run: () => Promise<unknown>) =>
  Effect.promise(() =>
    run().then(
      () => true,
      () => false
    )
  )
