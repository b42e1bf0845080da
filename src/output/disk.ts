/** How much space each part of the output folder takes. */
import * as Effect from "effect/Effect"
import { lstat, opendir } from "node:fs/promises"
import { join } from "node:path"
import { outputFiles } from "./contents.ts"
import { type OutputPaths, outputPaths } from "./paths.ts"
import { reportName } from "./report-place.ts"

export interface Used {
  readonly part: Part
  readonly what: string
  readonly bytes: number
  readonly files: number
  /** Whether there are more files than were counted. */
  readonly isCut: boolean
}

export type Part = keyof typeof parts

/** What each part is, and its places. */
const parts = {
  vault: { what: outputFiles.vault.what, places: ({ vault }: OutputPaths) => [vault] },
  warehouse: {
    what: outputFiles.warehouse.what,
    places: ({ warehouse }: OutputPaths) => [warehouse, `${warehouse}.wal`]
  },
  published: { what: "the current release and the one before", places: ({ versions }: OutputPaths) => [versions] },
  files: { what: outputFiles.files.what, places: ({ files }: OutputPaths) => [files] },
  tmp: { what: outputFiles.temporary.what, places: ({ temporary }: OutputPaths) => [temporary] }
}

/** `filesMax`: how many files of a part are counted at most. */
export const diskUse = (output: string, filesMax = Infinity): Effect.Effect<ReadonlyArray<Used>> => {
  const paths = outputPaths(output)
  return Effect.forEach(Object.entries(parts), ([part, { places, what }]) =>
    Effect.map(
      Effect.promise(() => sizeOf(places(paths), filesMax)),
      (size) => ({ part: part as Part, what, ...size })
    )
  )
}

/** A file with several names, as unchanged files of two releases, takes its space once. */
const sizeOf = async (places: ReadonlyArray<string>, filesMax: number) => {
  const seen = new Set<number>()
  let [size, files, isCut] = [0, 0, false]
  const add = async (path: string): Promise<void> => {
    if (isCut) return
    const found = await lstat(path).catch(() => undefined)
    if (found?.isDirectory()) {
      const folder = await opendir(path).catch(() => undefined)
      // The report itself is left out: with it, a second report of the same data would differ.
      if (folder) for await (const entry of folder) if (entry.name !== reportName) await add(join(path, entry.name))
      return
    }
    if (found === undefined || seen.has(found.ino)) return
    if (found.nlink > 1) seen.add(found.ino)
    size += found.size
    files += 1
    isCut = files >= filesMax
  }
  for (const place of places) await add(place)
  return { bytes: size, files, isCut }
}
