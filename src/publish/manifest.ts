/** Makes the files of a release durable, and writes the manifest that lists them with their checksums. */
import { Clock, Effect } from "effect"
import { open } from "node:fs/promises"
import { join } from "node:path"
import type { Failure } from "../failure.ts"
import { type Checksum, checksumOf, onDisk, writeDurably } from "../io/files.ts"
import { manifestName } from "../settings/paths.ts"
import type { Content } from "../warehouse/content.ts"

export interface Written {
  /** Relative to the published folder. */
  readonly path: string
  /** `*`: the file contains all tables. */
  readonly table: string
  readonly rows: number
}

export interface PublishedFile extends Written, Checksum {}

/** A table, the same in every format of a release. */
export interface PublishedTable extends Content {
  /** The schema in DuckDB: current rows or earlier versions. */
  readonly schema: "crm" | "crm_history"
  readonly table: string
  /** Only with the CSV profile for spreadsheets: the checksum of the columns that it does not alter. */
  readonly untouchedSum?: string
  /** Types by column, in the order of the columns. */
  readonly columns: Readonly<Record<string, string>>
}

/** The state from which a release is made; its manifest records it. */
export interface PublishedState {
  /** Rows that became new, changed or deleted in all runs so far. */
  readonly changes: number
  /** Fingerprint of the tables' columns, and of the views and comments. */
  readonly definitions: string
}

export interface Manifest {
  readonly run: string
  readonly schemaVersion: string
  readonly formats: ReadonlyArray<string>
  readonly csvProfile: string
  readonly state: PublishedState
  readonly tables: ReadonlyArray<PublishedTable>
  readonly files: ReadonlyArray<PublishedFile>
}

/** Flushes the file to disk and computes its checksum. Only its owner may open it, because it contains personal data. */
export const durableFile = (folder: string, file: Written): Effect.Effect<PublishedFile, Failure> => {
  const path = join(folder, file.path)
  return onDisk(path, "written", async () => {
    await using handle = await open(path, "r+")
    await handle.chmod(0o600)
    await handle.sync()
    return { ...file, ...(await checksumOf(path)) }
  })
}

/** Written last: a release without a manifest is incomplete. */
export const writeManifest = Effect.fn("publish.writeManifest")(function* (
  folder: string,
  manifest: Manifest
): Effect.fn.Return<void, Failure> {
  const path = join(folder, manifestName)
  const writtenAt = new Date(yield* Clock.currentTimeMillis).toISOString()
  const { run, schemaVersion, ...rest } = manifest
  const text = `${JSON.stringify({ tool: "sluice 0.1", run, schemaVersion, writtenAt, ...rest }, null, 2)}\n`
  yield* onDisk(path, "written", () => writeDurably(path, text))
})
