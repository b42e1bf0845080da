/**
 * Versions of the published folder. `published` is a link to one of them; a new one is made beside it and takes its
 * place in one rename, so a reader finds the whole old version or the whole new one and nobody waits for anybody.
 *
 *     building    .published/000007-<run>.building   whatever a crash leaves of it is removed by the next publish
 *     complete    .published/000007-<run>            every byte is on the disk
 *     current     published -> .published/000007-<run>
 *     before      .published/000006-<run>            kept for those who began to read it
 *
 * The lock of the warehouse keeps two publishes apart.
 */
import { Effect } from "effect"
import { lstat, mkdir, readdir, readlink, rename, rm, symlink } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { type Failure, failure } from "../failure.ts"
import { onDisk, syncFolder } from "../io/files.ts"

export interface Version {
  /** Folder to write into. */
  readonly building: string
  /** What the link will point to, relative to its own folder. */
  readonly target: string
  readonly published: string
}

/** Makes an empty folder for the next version, and removes what crashes and older versions left. */
export const beginRelease = Effect.fn("publish.beginVersion")(function* (
  folder: string,
  run: string
): Effect.fn.Return<Version, Failure> {
  const published = resolve(folder)
  const versions = versionsOf(published)
  const current = yield* currentVersion(published)
  return yield* onDisk(versions, "written", async () => {
    await mkdir(versions, { recursive: true, mode: 0o700 })
    await sweep(versions, current)
    const name = `${String(numberOf(current) + 1).padStart(6, "0")}-${run.replace(/[^A-Za-z0-9_-]/g, "_")}`
    const building = join(versions, `${name}.building`)
    await mkdir(building, { mode: 0o700 })
    return { building, target: join(basename(versions), name), published }
  })
})

/** Shows the version to readers. Every file in it must be on the disk already. */
export const commitRelease = ({ building, target, published }: Version): Effect.Effect<void, Failure> =>
  onDisk(published, "replaced", async () => {
    const complete = join(dirname(published), target)
    const link = join(dirname(complete), "link")
    for (const entry of await readdir(building, { recursive: true, withFileTypes: true }))
      if (entry.isDirectory()) await syncFolder(join(entry.parentPath, entry.name))
    await syncFolder(building)
    await rename(building, complete)
    await symlink(target, link)
    await syncFolder(dirname(complete))
    await rename(link, published)
    await syncFolder(dirname(published))
    await sweep(dirname(complete), basename(target)).catch(() => {}) // The next publish tries again.
  }).pipe(Effect.uninterruptible)

/** Gives the room back at once: a full disk is the likeliest reason. */
export const abandonRelease = ({ building }: Version): Effect.Effect<void> =>
  Effect.promise(() => rm(building, { recursive: true, force: true }).catch(() => {}))

const versionsOf = (published: string) => join(dirname(published), `.${basename(published)}`)

/** Name of the version the link points to; nothing before the first publish. */
const currentVersion = Effect.fnUntraced(function* (published: string) {
  const target = yield* onDisk(published, "read", async () => {
    const found = await lstat(published).catch((error) => (error.code === "ENOENT" ? undefined : Promise.reject(error)))
    return found?.isSymbolicLink() ? await readlink(published) : found && "something else"
  })
  if (target === undefined) return undefined
  const name = basename(target)
  if (target === join(basename(versionsOf(published)), name) && versionName.test(name)) return name
  return yield* failure({ _tag: "PublishedIsForeign", path: published })
})

const versionName = /^\d{6,}-[A-Za-z0-9_-]*$/
const numberOf = (version: string | undefined) => (version === undefined ? 0 : Number.parseInt(version, 10))

/** Keeps the current version and the one before it. Touches nothing that does not have a name of ours. */
const sweep = async (versions: string, current: string | undefined): Promise<void> => {
  const entries = await readdir(versions)
  const before = entries
    .filter((entry) => versionName.test(entry) && numberOf(entry) < numberOf(current))
    .sort((a, b) => numberOf(b) - numberOf(a))[0]
  for (const entry of entries)
    if (entry !== current && entry !== before && (/^\d{6,}-/.test(entry) || entry === "link"))
      await rm(join(versions, entry), { recursive: true, force: true })
}
