/** The manifest lists the files of a release with their checksums, and the state from which they were made. */
import { Clock, Effect } from "effect"
import { readFile, realpath, stat } from "node:fs/promises"
import { join } from "node:path"
import type { Failure } from "../../values/failure.ts"
import { type Checksum, onDisk, writeDurably } from "../../output/files.ts"
import { manifestName } from "../../output/paths.ts"
import type { FailedModel } from "../../stores/warehouse/meta/model-problems.ts"
import { sluiceVersion } from "../../values/version.ts"
import type { Content } from "../../stores/warehouse/content.ts"
import type { Written } from "../../stores/formats/format.ts"

export interface PublishedFile extends Written, Checksum {
  /** When the file was last modified, epoch milliseconds. A file that somebody has modified since is written anew. */
  readonly modifiedMs: number
}

/** A table, the same in every format of a release. */
export interface TableContent extends Content {
  /** The schema in DuckDB: current rows or earlier versions. */
  readonly schema: "crm" | "crm_history"
  readonly table: string
  /** Only with the CSV profile for spreadsheets: the checksum of the columns that it does not alter. */
  readonly untouchedSum?: string
  /** Types by column, in the order of the columns. */
  readonly columns: Readonly<Record<string, string>>
}

/** The state from which a release is made. */
export interface ReleaseState {
  /** Fingerprint of the tables, views and comments. */
  readonly definitions: string
  /** Versions by table and wide view. Equal versions have equal content. */
  readonly versions: Readonly<Record<string, string>>
  /** Versions of the models. Absent in releases of earlier versions of sluice. */
  readonly models?: Readonly<Record<string, string>>
  /** Size of the DuckDB file when it was last written anew; 0 without this file. */
  readonly fullBytes: number
}

export interface Manifest {
  readonly run: string
  readonly schemaVersion: string
  /** When a publish last found that the release shows the content of the warehouse, ISO 8601. */
  readonly confirmedAt?: string
  readonly formats: ReadonlyArray<string>
  readonly csvProfile: string
  readonly state: ReleaseState
  /** Models that could not be built. The release has an earlier table of some. */
  readonly problems?: ReadonlyArray<FailedModel>
  readonly tables: ReadonlyArray<TableContent>
  readonly files: ReadonlyArray<PublishedFile>
}

/** The current release, from which a new one takes what has not changed. */
export interface PreviousRelease {
  /** The folder of the release, not the link to it. */
  readonly folder: string
  readonly manifest: Manifest
}

/** `undefined` if there is none, an earlier version of sluice wrote it, or one of its files was changed or removed. */
export const previousRelease = (published: string): Effect.Effect<PreviousRelease | undefined> =>
  Effect.promise(async () => {
    try {
      const folder = await realpath(published)
      const manifest = JSON.parse(await readFile(join(folder, manifestName), "utf8")) as Manifest // Written by writeManifest.
      for (const { path, bytes, modifiedMs } of manifest.files) {
        const found = await stat(join(folder, path))
        if (found.size !== bytes || found.mtimeMs !== modifiedMs) return undefined
      }
      return manifest.state.versions === undefined ? undefined : { folder, manifest }
    } catch {
      return undefined
    }
  })

/** Written last: a release without a manifest is incomplete. */
export const writeManifest = Effect.fn("publish.writeManifest")(function* (
  folder: string,
  manifest: Manifest
): Effect.fn.Return<void, Failure> {
  const now = new Date(yield* Clock.currentTimeMillis).toISOString()
  const { run, schemaVersion, ...rest } = manifest
  yield* write(folder, {
    tool: `sluice ${sluiceVersion}`,
    run,
    schemaVersion,
    writtenAt: now,
    confirmedAt: now,
    ...rest
  })
})

/** Records that the release was compared with the warehouse, and still shows its present content. */
export const confirmRelease = Effect.fn("publish.confirmRelease")(function* ({
  folder,
  manifest
}: PreviousRelease): Effect.fn.Return<void, Failure> {
  yield* write(folder, { ...manifest, confirmedAt: new Date(yield* Clock.currentTimeMillis).toISOString() })
})

const write = (folder: string, content: object) => {
  const path = join(folder, manifestName)
  return onDisk(path, "written", () => writeDurably(path, `${JSON.stringify(content, null, 2)}\n`))
}
