/** Section: how much space each part of the output folder takes. */
import * as Effect from "effect/Effect"
import { lstat, opendir } from "node:fs/promises"
import { join } from "node:path"
import { outputPaths } from "../../../output/paths.ts"
import { bytes, count, share } from "../format.ts"
import { type Html, html } from "../../../values/html.ts"
import { bar, section, tableOf } from "../table.ts"
import { reportName } from "../../../output/report-place.ts"

export interface Used {
  readonly part: string
  readonly what: string
  readonly bytes: number
  readonly files: number
  /** Whether there are more files than were counted. */
  readonly isCut: boolean
}

/** The report takes seconds, however many recordings there are. */
const filesMax = 100_000

export const diskUse = (output: string): Effect.Effect<ReadonlyArray<Used>> => {
  const paths = outputPaths(output)
  const parts = [
    ["vault", "every response as received", [paths.vault]],
    ["warehouse", "the tables, their history and the state", [paths.warehouse, `${paths.warehouse}.wal`]],
    ["published", "the current release and the one before", [paths.versions]],
    ["files", "recordings of calls", [paths.files]],
    ["tmp", "batches that are being loaded", [paths.temporary]]
  ] as const
  return Effect.forEach(parts, ([part, what, places]) =>
    Effect.map(
      Effect.promise(() => sizeOf(places)),
      (size) => ({ part, what, ...size })
    )
  )
}

/** A file with several names, as unchanged files of two releases, takes its space once. */
const sizeOf = async (places: ReadonlyArray<string>) => {
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

export const diskSection = (used: ReadonlyArray<Used>): Html => {
  const all = used.reduce((sum, one) => sum + one.bytes, 0)
  const highest = Math.max(0, ...used.map((one) => one.bytes))
  return section({
    id: "disk",
    title: "Disk",
    lead: `The output folder takes ${bytes(all)}.`,
    content: tableOf({
      id: "disk-table",
      caption: "Space by part of the output folder",
      rows: used,
      columns: [
        { head: "Part", cell: ({ part }) => part },
        { head: "Size", kind: "number", cell: (one) => `${one.isCut ? "more than " : ""}${bytes(one.bytes)}` },
        { head: "Share", kind: "number", cell: (one) => share(one.bytes, all) },
        { head: "Share of the folder", kind: "chart", cell: (one) => bar(one.bytes, highest) },
        {
          head: "Files",
          kind: "number",
          cell: ({ files, isCut }) => html`${isCut ? "more than " : undefined}${count(files)}`
        },
        { head: "What", kind: "wide", cell: ({ what }) => what }
      ]
    })
  })
}
