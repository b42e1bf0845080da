/** The folders outside of the vault and the tables that have received data: what an erasure does with each. */
import { Effect } from "effect"
import { lstat } from "node:fs/promises"
import { join, relative } from "node:path"
import type { Failure } from "../../../values/failure.ts"
import { onDisk } from "../../../output/files.ts"
import type { Target } from "../../../settings/targets.ts"
import type { Place } from "../../../stores/ledger/given.ts"
import { releasesOf } from "../../../output/releases.ts"
import { removeEarlierReleases } from "../../../stages/publish/release.ts"

export interface PlaceState extends Place {
  /**
   * - `cleaned`: it has a new release, and no earlier one; a database has the rows of the new release only
   * - `left`: it has still what it had, because the settings do not publish into it any more
   * - `removed`: there is nothing at this path any more
   * - `out of reach`: it cannot be read from here, such as object storage
   */
  readonly state: "cleaned" | "left" | "removed" | "out of reach"
}

export interface Cleaned {
  readonly places: ReadonlyArray<PlaceState>
  /** Relative to the output folder. */
  readonly releasesRemoved: ReadonlyArray<string>
  /** Folders to search. */
  readonly folders: ReadonlyArray<string>
}

/** `renewed`: folders, databases and buckets with a new release and no earlier one, or in which a lake has lost its earlier versions. */
export const cleanPlaces = Effect.fn("erasure.cleanPlaces")(function* (
  output: string,
  all: ReadonlyArray<Place>,
  renewed: { readonly releases: ReadonlySet<string>; readonly lake: string | undefined }
): Effect.fn.Return<Cleaned, Failure> {
  const places: Array<PlaceState> = []
  const releasesRemoved: Array<string> = []
  const folders: Array<string> = []
  for (const place of new Map(all.map((one) => [one.folder, one])).values()) {
    const { folder } = place
    const isRenewed = renewed.releases.has(folder)
    const isFolder = !/^[a-z0-9]+:\/\//.test(folder)
    if (isRenewed && isFolder)
      for (const name of yield* removeEarlierReleases(folder))
        releasesRemoved.push(relative(output, join(releasesOf(folder), name)))
    const kinds = isFolder
      ? yield* onDisk(folder, "read", () => Promise.all([kindOf(folder), kindOf(releasesOf(folder))]))
      : undefined
    const isThere = kinds?.some((kind) => kind !== "none")
    if (kinds?.[0] === "folder") folders.push(folder)
    if (kinds?.[1] === "folder") folders.push(releasesOf(folder))
    const state =
      // The rows of a database were replaced in the transaction that loaded the new release; a bucket was listed.
      kinds === undefined && isRenewed
        ? "cleaned"
        : kinds === undefined || kinds.includes("unknown")
          ? "out of reach"
          : isRenewed || folder === renewed.lake
            ? "cleaned"
            : isThere
              ? "left"
              : "removed"
    places.push({ name: place.name, folder, state })
  }
  return { places, releasesRemoved, folders }
})

/** Returns the buckets that have no earlier content any more. Only an output with one loads the module. */
export const cleanBuckets = (targets: ReadonlyArray<Target>): Effect.Effect<ReadonlyArray<string>, Failure> =>
  targets.some(({ destination }) => destination?.kind === "bucket")
    ? Effect.flatMap(
        Effect.promise(() => import("../../../stages/publish/bucket/earlier.ts")),
        ({ removeEarlierObjects }) => removeEarlierObjects(targets)
      )
    : Effect.succeed([])

const kindOf = (path: string): Promise<"folder" | "other" | "none" | "unknown"> =>
  lstat(path).then(
    (found) => (found.isDirectory() ? "folder" : "other"),
    ({ code }: NodeJS.ErrnoException) => (code === "ENOENT" || code === "ENOTDIR" ? "none" : "unknown")
  )
