/** Files in the user's cache folder, which take long to make and contain nothing of an account. */
import * as Effect from "effect/Effect"
import { constants } from "node:fs"
import { access, chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { onDisk, succeeds } from "./files.ts"
import { removeBelow } from "./remove.ts"

/** `undefined` if the user has no home. */
export const cacheFolder = (): string | undefined => {
  try {
    return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "sluice")
  } catch {
    return undefined
  }
}

/** The end of the name of each kind of file. */
const endings = { empty: "duckdb", published: "duckdb", parquet: "parquet" }

/** A file that depends on nothing but what the fingerprint stands for. */
export interface Cached {
  readonly kind: keyof typeof endings
  /** Hexadecimal; its first 16 digits count. */
  readonly fingerprint: string
}

/**
 * The path of a file of the cache, which `make` makes at the path that it is given if there is none. `undefined` if it cannot be
 * made there. Processes that make the same file at the same time have one folder each, and the last one to end replaces the
 * same content: whoever reads the cache finds the whole file or none.
 */
export const cachedFile = Effect.fnUntraced(function* <A, E, R>(
  { fingerprint, kind }: Cached,
  make: (path: string) => Effect.Effect<A, E, R>,
  cache = cacheFolder()
) {
  if (cache === undefined) return undefined
  const name = `${kind}-${fingerprint.slice(0, 16)}.${endings[kind]}`
  const path = join(cache, name)
  if (yield* succeeds(() => access(path, constants.R_OK))) {
    // The time of the last use is what keeps a file. Another user's cache may be readable only.
    yield* succeeds(() => utimes(path, new Date(), new Date()))
    // Copies have the mode of the file, and get the rows of an account.
    yield* succeeds(() => chmod(path, 0o600))
    return path
  }
  const made = yield* Effect.acquireUseRelease(
    Effect.tryPromise(async () => {
      await mkdir(cache, { recursive: true, mode: 0o700 })
      await removeUnused(cache, kind)
      return mkdtemp(join(cache, `${name}.`))
    }),
    (folder) =>
      Effect.andThen(
        make(join(folder, name)),
        Effect.tryPromise(async () => {
          await chmod(join(folder, name), 0o600)
          await rename(join(folder, name), path)
        })
      ),
    (folder) => Effect.promise(() => removeBelow(cache, folder).catch(() => {}))
  ).pipe(Effect.option)
  return made._tag === "Some" ? path : undefined
})

/** Copies a file of the cache to `path`, at which `make` makes it if the cache cannot have it. */
export const copyOrMake = Effect.fnUntraced(function* <A, E, R>(
  path: string,
  cached: Cached,
  make: (path: string) => Effect.Effect<A, E, R>,
  cache = cacheFolder()
) {
  const from = yield* cachedFile(cached, make, cache)
  if (from !== undefined && (yield* succeeds(() => copyFile(from, path, constants.COPYFILE_FICLONE)))) return
  yield* onDisk(path, "removed", () => rm(path, { force: true }))
  yield* make(path)
})

/**
 * Removes what nobody has used for 30 days: files of earlier definitions, and folders of processes that were killed while they
 * made one. Only names that this module gives, and once gave with more digits: the folder may hold files of others. Whoever copies
 * a file that is removed meanwhile reads it to its end, and one that is missing is made again.
 */
const removeUnused = async (cache: string, kind: Cached["kind"]): Promise<void> => {
  const own = new RegExp(`^${kind}-[0-9a-f]{16,32}\\.${endings[kind]}(\\.[A-Za-z0-9]{6})?$`)
  for (const name of (await readdir(cache)).filter((one) => own.test(one))) {
    const path = join(cache, name)
    // Another process may have removed it.
    const usedAt = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Infinity
    )
    if (Date.now() - usedAt > keptMs) await removeBelow(cache, name).catch(() => {})
  }
}

const keptMs = 30 * 24 * 60 * 60 * 1000
