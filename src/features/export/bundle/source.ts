/** The release of which a bundle is made. Everything in the bundle is from this release, so the same release gives the same bytes. */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { readFile, realpath } from "node:fs/promises"
import { join } from "node:path"
import { failedError } from "../../../console/errors.ts"
import { onDisk } from "../../../output/files.ts"
import { readManifest } from "../../../output/manifest.ts"
import { manifestName, snapshotName, maskingName } from "../../../output/paths.ts"

export interface ReleasedTable {
  readonly name: string
  /** Types by column, in the order of the columns. */
  readonly columns: Readonly<Record<string, string>>
}

export type Release = Effect.Success<ReturnType<typeof currentRelease>>

/** `published`: the link to the release. */
export const currentRelease = Effect.fn("bundle.currentRelease")(function* (published: string) {
  if (!existsSync(published))
    return yield* failedError(`There is no release in ${published}, and a bundle is made of one.`, "./sluice publish")
  const unreadable = (cause: unknown) =>
    failedError(
      `${join(published, manifestName)} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      "./sluice publish --full"
    )
  const { folder, manifest } = yield* Effect.tryPromise({
    try: async () => {
      const folder = await realpath(published)
      return { folder, manifest: await readManifest(folder) }
    },
    catch: unreadable
  })
  const { csvProfile, files, run, tables, writtenAt } = manifest
  if (tables === undefined || writtenAt === undefined)
    return yield* unreadable("an earlier version of sluice wrote it, without the columns of the tables")
  const snapshot = join(folder, snapshotName)
  const maskedColumns = yield* onDisk(folder, "read", () =>
    existsSync(join(folder, maskingName)) ? readFile(join(folder, maskingName), "utf8") : Promise.resolve(undefined)
  )
  // The warehouse could say what the release lacks, but not masked.
  if (maskedColumns !== undefined && !existsSync(snapshot))
    return yield* failedError(
      `${published} has no DuckDB file, which contains the runs of a masked release.`,
      'add "duckdb" to the formats of this [[publish]], then ./sluice publish'
    )
  return {
    /** The folder itself and not the link to it, which the next release replaces. */
    folder,
    run,
    writtenAt,
    /** Whether its CSV files are as stored; some of releases before 1.1.0 have altered texts. */
    hasPlainCsv: csvProfile !== "spreadsheet",
    /** The tables without wide views and models. */
    tables: tables
      .filter(({ schema }) => schema === "crm")
      .map(({ table, columns }): ReleasedTable => ({ name: table, columns })),
    files,
    /** The DuckDB file of the release, if it has one. */
    snapshot: existsSync(snapshot) ? snapshot : undefined,
    /** What was done with each column, if values were masked. */
    maskedColumns
  }
})
