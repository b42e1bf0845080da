/** How much space each part of the output folder takes. */
import * as Effect from "effect/Effect"
import { lstat, opendir } from "node:fs/promises"
import { join } from "node:path"
import { outputFiles } from "./contents.ts"
import { outputPaths } from "./paths.ts"
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

/** The places of each part, and what it is. */
const parts = {
  vault: { places: ["vault"], what: outputFiles.vault.what },
  warehouse: { places: ["warehouse"], what: outputFiles.warehouse.what },
  published: { places: ["versions"], what: "the current release and the one before" },
  files: { places: ["files"], what: outputFiles.files.what },
  tmp: { places: ["temporary"], what: outputFiles.temporary.what }
} as const

/** `filesMax`: how many files of a part are counted at most. */
export const diskUse = (output: string, filesMax = Infinity): Effect.Effect<ReadonlyArray<Used>> => {
  const paths = outputPaths(output)
  const logs = { warehouse: [`${paths.warehouse}.wal`] } as Partial<Record<Part, ReadonlyArray<string>>>
  return Effect.forEach(Object.entries(parts), ([name, { places, what }]) => {
    const part = name as Part
    const all = [...places.map((place) => paths[place]), ...(logs[part] ?? [])]
    return Effect.map(
      Effect.promise(() => sizeOf(all, filesMax)),
      (size) => ({ part, what, ...size })
    )
  })
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
