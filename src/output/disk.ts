/** How much space each part of the output folder takes. */
import { lstat, opendir, readdir } from "node:fs/promises"
import { join } from "node:path"
import { type OutputTable, type Part, finderIn, outputFiles, parts } from "./contents.ts"
import { onDisk } from "./files.ts"
import { reportName } from "./paths.ts"

export interface Used {
  readonly part: Part
  readonly what: string
  readonly bytes: number
  readonly files: number
  /** Whether there are more files than were counted. */
  readonly isCut: boolean
}

export interface DiskUseOptions {
  /** How many files of a part are counted at most. */
  readonly filesMax?: number
  /** What the folder contains; tests have entries of their own. */
  readonly table?: OutputTable
}

/** The parts that exist. */
export const diskUse = (output: string, { filesMax = Infinity, table = outputFiles }: DiskUseOptions = {}) =>
  onDisk(output, "read", async () => {
    const entryOf = finderIn(table)
    const names = (await readdir(output).catch((): ReadonlyArray<string> => [])).toSorted()
    const used: Array<Used> = []
    for (const [part, what] of Object.entries(parts) as ReadonlyArray<[Part, string]>) {
      const places = names.filter((name) => entryOf(name)?.part === part).map((name) => join(output, name))
      if (places.length > 0) used.push({ part, what, ...(await sizeOf(places, filesMax)) })
    }
    return used
  })

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
