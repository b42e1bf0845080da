/** Writes the manifest of a release, and reads that of the release before. */
import { Clock, Effect } from "effect"
import { realpath, stat } from "node:fs/promises"
import { join } from "node:path"
import { wrong } from "../../values/finding.ts"
import { onDisk, writeDurably } from "../../output/files.ts"
import { type Manifest, readManifest } from "../../output/manifest.ts"
import type { FailedModel } from "../../stores/warehouse/meta/model-problems.ts"
import { manifestName, snapshotName } from "../../output/paths.ts"
import { sluiceVersion } from "../../values/version.ts"

type Times = "tool" | "writtenAt" | "confirmedAt"
/** A manifest that has everything that this version writes. */
export type WholeManifest = Required<Omit<Manifest, Times | "csvProfile">> & Pick<Manifest, Times>

/** The current release, from which a new one takes what has not changed. */
export interface PreviousRelease {
  /** The folder of the release, not the link to it. */
  readonly folder: string
  readonly manifest: WholeManifest
}

/** `undefined` if there is none, an earlier version of sluice wrote it, or one of its files was changed or removed. */
export const previousRelease = (published: string): Effect.Effect<PreviousRelease | undefined> =>
  Effect.tryPromise(async () => {
    const folder = await realpath(published)
    const { formats, csvProfile, state, tables, problems = [], schemaVersion, ...rest } = await readManifest(folder)
    if (!formats || csvProfile === "spreadsheet" || !state || !tables || !schemaVersion) return undefined
    for (const { path, bytes, modifiedMs } of rest.files) {
      const found = await stat(join(folder, path))
      if (found.size !== bytes || found.mtimeMs !== modifiedMs) return undefined
    }
    return { folder, manifest: { ...rest, schemaVersion, formats, state, problems, tables } }
  }).pipe(Effect.orElseSucceed(() => undefined))

/** Whether a place has what a later run has made: a process that was stopped for a while must not replace it. */
export const isLater = (there: unknown, run: string): boolean => typeof there === "string" && there > run

/** Why a place with it is left as it is. */
export const laterRun = (run: string): string =>
  `it has the rows of a later run of this output folder, ${run}; ./sluice publish --full replaces them`

/** SHA-256 of the DuckDB file of a release that has one. */
export const snapshotSum = ({ files }: Pick<Manifest, "files">): string =>
  files.find(({ path }) => path === snapshotName)!.sha256

/** The models that could not be built for a release. */
export const failedModels = ({ problems }: WholeManifest): ReadonlyArray<FailedModel> =>
  problems.map(({ model, problem, kept }) => ({ ...wrong(model, problem), kept }))

interface Content extends Omit<WholeManifest, Times | "problems"> {
  readonly problems: ReadonlyArray<FailedModel>
}

/** Written last: a release without a manifest is incomplete. */
export const writeManifest = Effect.fn("publish.writeManifest")(function* (
  folder: string,
  { run, schemaVersion, ...rest }: Content
) {
  const now = new Date(yield* Clock.currentTimeMillis).toISOString()
  yield* write(folder, {
    tool: `sluice ${sluiceVersion}`,
    run,
    schemaVersion,
    writtenAt: now,
    confirmedAt: now,
    ...rest,
    problems: rest.problems.map(({ where, what, kept }) => ({ model: where, problem: what, kept }))
  })
})

/** Records that the release was compared with the warehouse, and still shows its present content. */
export const confirmRelease = Effect.fn("publish.confirmRelease")(function* ({ folder, manifest }: PreviousRelease) {
  yield* write(folder, { ...manifest, confirmedAt: new Date(yield* Clock.currentTimeMillis).toISOString() })
})

const write = (folder: string, content: object) => {
  const path = join(folder, manifestName)
  return onDisk(path, "written", () => writeDurably(path, `${JSON.stringify(content, null, 2)}\n`))
}
