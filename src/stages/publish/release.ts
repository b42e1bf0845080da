/**
 * Releases of the published folder. `published` is a link to one of them. A new release is made in a folder of its own, and one
 * rename replaces the link, so readers see the whole old release or the whole new one and never wait. Without links: current.ts.
 *
 *     building    .published/000007-<run>.building   the next publish removes what a crash leaves
 *     complete    .published/000007-<run>            every byte is on disk
 *     current     published -> .published/000007-<run>
 *     before      .published/000006-<run>            kept for readers that have opened it
 *
 * The lock of the warehouse prevents concurrent publishes.
 */
import { Effect } from "effect"
import { closeSync, fchmodSync, fstatSync, fsync, openSync, readFileSync } from "node:fs"
import { mkdir, readdir, rename } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { promisify } from "node:util"
import type { Failure } from "../../values/failure.ts"
import { checksumOf, checksumOfBytes, ifMissing, onDisk, syncFolder, unlessRefused } from "../../output/files.ts"
import { currentRelease, linkName, numberOf, show } from "./current.ts"
import type { RowTexts } from "../../stores/warehouse/content.ts"
import type { StoredTables } from "../../stores/warehouse/columns.ts"
import type { Written } from "../../stores/formats/format.ts"
import type { PublishedFile } from "../../output/manifest.ts"
import { buildingEnd, isOfRelease, isRelease, releaseNameOf, releasesOf } from "../../output/paths.ts"
import { removeBelow } from "../../output/remove.ts"
import type { PreviousRelease } from "./manifest.ts"

export interface Release {
  /** The folder into which the files are written. */
  readonly building: string
  /** Target of the link, relative to the folder of the link. */
  readonly target: string
  readonly published: string
  /** The name of the release that readers see. */
  readonly current: string | undefined
}

/** A release in the making. */
export interface Making {
  /** Its folder. */
  readonly building: string
  readonly previous: PreviousRelease | undefined
  /** The tables of the warehouse, by path. */
  readonly stored: StoredTables
  /** Rows that were read for the checksums, for a format that writes texts. */
  readonly texts?: RowTexts
}

/** Creates an empty folder for the next release, and removes older releases and what crashes have left. */
export const beginRelease = Effect.fn("publish.beginRelease")(function* (folder: string, run: string) {
  const published = resolve(folder)
  const releases = releasesOf(published)
  const current = yield* currentRelease(published)
  return yield* onDisk(releases, "written", async () => {
    await mkdir(releases, { recursive: true, mode: 0o700 })
    await removeOld(releases, current)
    const name = releaseNameOf(numberOf(current) + 1, run)
    const building = join(releases, name + buildingEnd)
    await mkdir(building, { mode: 0o700 })
    return { building, target: join(basename(releases), name), published, current }
  })
})

/** Flushes the file to disk and computes its checksum. Only its owner may open it, because it contains personal data. */
export const durableFile = (folder: string, file: Written): Effect.Effect<PublishedFile, Failure> => {
  const path = join(folder, file.path)
  return onDisk(path, "written", async () => {
    // Only flushing takes long; for the rest, not to block would take more CPU than the operation.
    const descriptor = openSync(path, "r+")
    try {
      await unlessRefused(async () => fchmodSync(descriptor, 0o600))
      await promisify(fsync)(descriptor)
      const { mtimeMs, size } = fstatSync(descriptor)
      const checksum = size <= smallBytes ? checksumOfBytes(readFileSync(descriptor)) : await checksumOf(path)
      return { ...file, ...checksum, modifiedMs: mtimeMs }
    } finally {
      closeSync(descriptor)
    }
  })
}

const smallBytes = 256 * 1024

/** Shows the release to readers. Its files must be durable already. */
export const commitRelease = ({ building, current, target, published }: Release): Effect.Effect<void, Failure> =>
  onDisk(published, "replaced", async () => {
    const complete = join(dirname(published), target)
    for (const entry of await readdir(building, { recursive: true, withFileTypes: true }))
      if (entry.isDirectory()) await syncFolder(join(entry.parentPath, entry.name))
    await syncFolder(building)
    await rename(building, complete)
    const isFirstWithoutLink = await show(published, basename(target), current)
    await syncFolder(dirname(published))
    await removeOld(dirname(complete), basename(target)).catch(() => {}) // The next publish tries again.
    return isFirstWithoutLink
  }).pipe(
    Effect.flatMap((isFirst) => (isFirst ? Effect.logWarning(withoutLinks(published)) : Effect.void)),
    Effect.uninterruptible
  )

const withoutLinks = (published: string): string =>
  `The file system of ${published} has no symbolic links, so this is a folder, which two renames replace: between them, readers find nothing for a moment.`

/** Frees the space at once, because a full disk is the most likely reason. */
export const abandonRelease = ({ building }: Release): Effect.Effect<void> =>
  Effect.promise(() => removeBelow(dirname(building), building).catch(() => {}))

/** Removes every release but the current one, also the previous one, which readers may have opened. Returns their names. */
export const removeEarlierReleases = Effect.fn("publish.removeEarlierReleases")(function* (folder: string) {
  const published = resolve(folder)
  const releases = releasesOf(published)
  const current = yield* currentRelease(published)
  return yield* onDisk(releases, "removed", async () => {
    const earlier = (await readdir(releases).catch(ifMissing<ReadonlyArray<string>>([]))).filter(
      (entry) => entry !== current && isOwn(entry)
    )
    for (const entry of earlier) await removeBelow(releases, entry)
    return earlier
  })
})

/** What this module creates in the folder of the releases. */
const isOwn = (entry: string): boolean => isOfRelease(entry) || entry === linkName

/** Keeps the current release and the previous one, and files whose names sluice does not use. */
const removeOld = async (releases: string, current: string | undefined): Promise<void> => {
  const entries = await readdir(releases)
  const before = entries
    .filter((entry) => isRelease(entry) && numberOf(entry) < numberOf(current))
    .sort((a, b) => numberOf(b) - numberOf(a))[0]
  for (const entry of entries)
    if (entry !== current && entry !== before && isOwn(entry)) await removeBelow(releases, entry)
}
