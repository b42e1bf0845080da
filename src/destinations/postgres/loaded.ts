/** The files of a database in the output folder, beside its releases: what it got last, and what it gets. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { mkdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { onDisk, writeDurably } from "../../output/files.ts"
import { readJson } from "../../output/json-file.ts"

export interface Paths {
  /** The file that the database gets. */
  readonly current: string
  /** The file that it got last, and a note which one it is: without it, the file is of no use. */
  readonly loaded: string
  readonly note: string
  readonly rows: string
  readonly records: string
}

/** The files of a database beside its releases. */
export const pathsIn = Effect.fnUntraced(function* (folder: string) {
  yield* onDisk(folder, "created", () => mkdir(folder, { recursive: true, mode: 0o700 }))
  const at = (name: string) => join(folder, name)
  return {
    current: at("current.duckdb"),
    loaded: at("loaded.duckdb"),
    note: at("loaded.json"),
    rows: at("rows.csv"),
    records: at("records.parquet")
  }
})

const Note = Schema.Struct({
  /** SHA-256 of the file. */
  content: Schema.String
})

/** The SHA-256 of the file that the database got last, if it is known. */
export const loadedIn = ({ note }: Paths) =>
  Effect.map(
    Effect.orElseSucceed(readJson(note, Note), () => undefined),
    (known) => known?.content
  )

/** Call when the database has the file `current`. */
export const keepLoaded = Effect.fnUntraced(function* (
  { current, loaded, note, records, rows }: Paths,
  content: string
) {
  yield* onDisk(loaded, "written", async () => {
    for (const path of [rows, records]) await rm(path, { force: true })
    // Without it, the database had this file before.
    if (!existsSync(current)) return
    await rm(note, { force: true })
    await rename(current, loaded)
    await writeDurably(note, JSON.stringify({ content } satisfies typeof Note.Type))
  })
})
