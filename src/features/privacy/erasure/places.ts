/** The folders outside of the vault and the tables that have received data: what an erasure does with each. */
import { Effect } from "effect"
import { lstat } from "node:fs/promises"
import { join, relative } from "node:path"
import { onDisk } from "../../../output/files.ts"
import type { Place } from "../../../stores/ledger/given.ts"
import { releasesOf } from "../../../output/paths.ts"
import { removeEarlierReleases } from "../../../stages/publish/release.ts"

export interface PlaceState extends Place {
  /**
   * - `cleaned`: it has a new release, and no earlier one; a database has the rows of the new release only
   * - `left`: it still has its earlier rows, because the settings do not publish into it any more
   * - `removed`: there is nothing at this path any more
   * - `out of reach`: it cannot be read from here, such as object storage
   */
  readonly state: "cleaned" | "left" | "removed" | "out of reach"
}

/**
 * `releases`: folders with a new release. `cleaned`: places that have nothing of an earlier one. Returns the removed releases,
 * relative to the output folder, and the folders to search.
 */
export const cleanPlaces = Effect.fn("erasure.cleanPlaces")(function* (
  output: string,
  all: ReadonlyArray<Place>,
  renewed: { readonly releases: ReadonlySet<string>; readonly cleaned: ReadonlySet<string> }
) {
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
      kinds?.includes("unknown") === true
        ? "out of reach"
        : isRenewed || renewed.cleaned.has(folder)
          ? "cleaned"
          : kinds === undefined
            ? "out of reach"
            : isThere
              ? "left"
              : "removed"
    places.push({ name: place.name, folder, state })
  }
  return { places, releasesRemoved, folders }
})

const kindOf = (path: string): Promise<"folder" | "other" | "none" | "unknown"> =>
  lstat(path).then(
    (found) => (found.isDirectory() ? "folder" : "other"),
    ({ code }: NodeJS.ErrnoException) => (code === "ENOENT" || code === "ENOTDIR" ? "none" : "unknown")
  )
