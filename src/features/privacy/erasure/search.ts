/**
 * Searches every file of the folders that have received data: for the texts that identify a person, in the forms in which
 * programs store texts, and for the rows of the erased records.
 */
import { Effect } from "effect"
import { readFile, readdir } from "node:fs/promises"
import { join, relative } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import type { Failure } from "../../../values/failure.ts"
import { ifMissing, onDisk } from "../../../output/files.ts"
import { reading } from "../../../output/held-files.ts"
import { warehouseName } from "../../../output/paths.ts"
import { type Needle, needlesOf } from "./needles.ts"
import {
  type Sought,
  prepareSearch,
  recordLabel,
  searchDatabase,
  searchParquet,
  searchTables,
  type Found
} from "./search-tables.ts"

/** Whether what was found is of the person for certain. Names and ids may occur in what belongs to others. */
export const isCertain = ({ label }: Pick<Found, "label">): boolean =>
  label === recordLabel || /^(email|phone)/.test(label)

const archives = /\.(zip|xlsx|tar|gz|age)$/

/** `folders`: the output folder, whose warehouse is open, and others. A folder that does not exist contains nothing. */
export const searchFolders = Effect.fn("erasure.search")(function* (
  output: string,
  others: ReadonlyArray<string>,
  sought: Sought,
  isSkipped: (file: string) => boolean
) {
  const needles = sought.texts.flatMap(needlesOf)
  const found: Array<Found> = []
  const unsearched: Array<string> = []
  let [files, bytes] = [0, 0]
  yield* prepareSearch(sought)
  for (const folder of [output, ...others])
    for (const path of yield* filesBelow(folder)) {
      const place = folder === output ? relative(output, path) : path
      if (isSkipped(place)) continue
      files++
      const searched = archives.test(path)
        ? undefined
        : yield* Effect.orElseSucceed(searchOne(path, place, needles, sought), () => undefined)
      if (searched === undefined) unsearched.push(place)
      else found.push(...searched.found)
      bytes += searched?.bytes ?? 0
    }
  return {
    folders: [output, ...others],
    files,
    bytes,
    found,
    /** Archives, and databases that cannot be opened: what they contain is not known. */
    unsearched
  }
})

const filesBelow = (folder: string): Effect.Effect<ReadonlyArray<string>, Failure> =>
  onDisk(folder, "read", async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(ifMissing([]))
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
  })

const searchOne = Effect.fnUntraced(function* (
  path: string,
  place: string,
  needles: ReadonlyArray<Needle>,
  sought: Sought
) {
  const found: Array<Found> = []
  const bytes = yield* onDisk(path, "read", () =>
    searchBytes(path, needles, ({ form, label }) => found.push({ place, label, form }))
  )
  const inTables =
    place === warehouseName
      ? yield* searchTables("warehouse", place, sought)
      : /\.(duckdb|ducklake)$/.test(path)
        ? yield* searchDatabase(path, place, sought)
        : path.endsWith(".parquet")
          ? yield* searchParquet(path, place, sought)
          : []
  return { bytes, found: [...found, ...inTables] }
})

const chunkBytes = 4 * 1024 * 1024

/** Returns the size. Reports each form of each text once. */
const searchBytes = async (path: string, needles: ReadonlyArray<Needle>, onFound: (needle: Needle) => void) => {
  const missing = new Set(needles)
  const search = (text: string) => {
    for (const needle of missing)
      if (needle.isIn(text)) {
        missing.delete(needle)
        onFound(needle)
      }
  }
  if (path.endsWith(".zst")) {
    const content = zstdDecompressSync(await readFile(path))
    search(content.toString("latin1").toLowerCase())
    return content.length
  }
  const overlap = Math.max(1, ...needles.map(({ bytes }) => bytes))
  return reading(path, async (file) => {
    // Most files are small, and a release has hundreds: a whole chunk for each would mostly cost garbage collections.
    const buffer = Buffer.alloc(Math.min(chunkBytes, (await file.stat()).size + 1))
    let size = 0
    for (let rest = ""; ;) {
      const { bytesRead } = await file.read(buffer)
      if (bytesRead === 0) return size
      size += bytesRead
      const text = rest + buffer.toString("latin1", 0, bytesRead).toLowerCase()
      search(text)
      rest = text.slice(-overlap)
    }
  })
}
