/**
 * The release that readers see at `published`: a link to it, which one rename replaces; or, where the file system has no links
 * (SMB, exFAT, some of FUSE), the release itself, which two renames replace. Between them, readers find nothing. `.published/placed`
 * names both releases beforehand, so that the next publish finishes what was killed.
 *
 *     before     published = 000006   .published/000007
 *     between                         .published/000006, 000007
 *     after      published = 000007   .published/000006
 */
import { Effect } from "effect"
import * as Schema from "effect/Schema"
import { lstat, readlink, rename, rm, symlink } from "node:fs/promises"
import { basename, join, resolve } from "node:path"
import { present } from "../../catalog/present.ts"
import { ifMissing, isRefused, onDisk, readJson, syncFolder, writeDurably } from "../../output/files.ts"
import { readManifest } from "../../output/manifest.ts"
import { isRelease, releaseNameOf, releasesOf } from "../../output/paths.ts"
import { failure } from "../../values/failure.ts"

/** The names of the release that was shown, and of the one that is; none if it is taken away from readers. */
const Release = Schema.NullOr(Schema.String.check(Schema.makeFilter(isRelease)))
const Placed = Schema.Struct({ from: Release, to: Release })
type Placed = typeof Placed.Type

const placedPath = (published: string): string => join(releasesOf(published), "placed")
export const linkName = "link"

const isFolder = (path: string): Promise<boolean> => lstat(path).then((found) => found.isDirectory(), ifMissing(false))

/** Name of the release that readers see, after what was killed is finished; `undefined` before the first publish. */
export const currentRelease = Effect.fn("publish.currentRelease")(function* (folder: string) {
  const published = resolve(folder)
  const releases = releasesOf(published)
  const found = yield* onDisk(published, "read", () => lstat(published).catch(ifMissing(undefined)))
  const foreign = failure({ _tag: "PublishedIsForeign", path: published })
  if (found?.isSymbolicLink()) {
    const target = yield* onDisk(published, "read", () => readlink(published))
    const name = basename(target)
    return target === join(basename(releases), name) && isRelease(name) ? name : yield* foreign
  }
  const placed = yield* readJson(placedPath(published), Placed)
  if (placed === undefined) return found === undefined ? undefined : yield* foreign
  const { from, to } = placed
  const isFinished = to !== null && !(yield* onDisk(releases, "read", () => isFolder(join(releases, to))))
  const shown = isFinished ? to : from
  if (found !== undefined && !(yield* Effect.promise(() => isOf(published, shown)))) return yield* foreign
  if (isFinished) return found === undefined ? undefined : to
  yield* onDisk(published, "replaced", () => replace(published, placed))
  return to ?? undefined
})

/** Whether the folder is the release of that name: what somebody else has put there is not moved. */
const isOf = (published: string, name: string | null): Promise<boolean> =>
  readManifest(published).then(
    ({ run }) => name !== null && releaseNameOf(numberOf(name), run) === name,
    () => false
  )

export const numberOf = (release: string | undefined): number =>
  release === undefined ? 0 : Number.parseInt(release, 10)

/**
 * Shows a complete release, which is in the folder of the releases, in place of `current`, which `currentRelease` has found.
 * Returns whether it is the first one without a link.
 */
export const show = async (published: string, name: string, current: string | undefined): Promise<boolean> => {
  const releases = releasesOf(published)
  const found = await lstat(published).catch(ifMissing(undefined))
  if (found === undefined || found.isSymbolicLink()) {
    const link = join(releases, linkName)
    const isLinked = await symlink(join(basename(releases), name), link).then(
      () => true,
      (cause) => {
        if (isRefused(cause)) return false
        throw cause
      }
    )
    if (isLinked) {
      await syncFolder(releases)
      await rename(link, published)
      return false
    }
  }
  const from = current ?? null
  if (found !== undefined && from === null) throw new Error("somebody else has made it meanwhile")
  await writeDurably(placedPath(published), JSON.stringify({ from, to: name } satisfies Placed))
  await replace(published, { from, to: name })
  return found?.isDirectory() !== true
}

/** Both renames, or those that are left. */
const replace = async (published: string, { from, to }: Placed): Promise<void> => {
  const releases = releasesOf(published)
  const found = await lstat(published).catch(ifMissing(undefined))
  if (found?.isSymbolicLink()) await rm(published)
  else if (found !== undefined) await rename(published, join(releases, present(from, `name for ${published}`)))
  await syncFolder(releases)
  if (to !== null) await rename(join(releases, to), published)
  await syncFolder(releases)
}

/** Takes the current release away from readers; it stays in the folder of the releases. */
export const withdraw = Effect.fn("publish.withdraw")(function* (folder: string) {
  const published = resolve(folder)
  const current = yield* currentRelease(published)
  if (current === undefined) return
  yield* onDisk(published, "removed", async () => {
    const isLink = (await lstat(published)).isSymbolicLink()
    if (!isLink) await writeDurably(placedPath(published), JSON.stringify({ from: current, to: null } satisfies Placed))
    await replace(published, { from: current, to: null })
  })
})
