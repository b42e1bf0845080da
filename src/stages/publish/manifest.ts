/** Writes the manifest of a release, and reads that of the release before. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Stats } from "node:fs"
import { realpath, stat } from "node:fs/promises"
import { join } from "node:path"
import { findIn } from "../../catalog/present.ts"
import { wrong } from "../../values/finding.ts"
import { onDisk, writeDurably } from "../../output/files.ts"
import { type Manifest, readManifest } from "../../output/manifest.ts"
import type { FailedModel } from "../../stores/warehouse/meta/model-problems.ts"
import { manifestName, snapshotName } from "../../output/paths.ts"
import { sluiceVersion } from "../../values/version.ts"

type Times = "tool" | "owner" | "writtenAt" | "confirmedAt"
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
    if ((await changedIn(folder, rest.files)).length > 0) return undefined
    return { folder, manifest: { ...rest, schemaVersion, formats, state, problems, tables } }
  }).pipe(Effect.orElseSucceed(() => undefined))

/** The files that are not as they were written, without reading them. */
const changedIn = async (
  folder: string,
  files: Manifest["files"],
  isAsWritten = (found: Stats, { bytes, modifiedMs }: Manifest["files"][number]) =>
    found.size === bytes && found.mtimeMs === modifiedMs
): Promise<ReadonlyArray<string>> => {
  const changed: Array<string> = []
  for (const file of files) {
    const found = await stat(join(folder, file.path)).catch(() => undefined)
    if (found === undefined || !isAsWritten(found, file)) changed.push(file.path)
  }
  return changed
}

/** The files of a release that are not there, or of another size; its folder, if there is no manifest in it. */
export const missingIn = (published: string) =>
  Effect.tryPromise(async () => {
    const { files } = await readManifest(published)
    return changedIn(published, files, ({ size }, { bytes }) => size === bytes)
  }).pipe(Effect.orElseSucceed(() => [published]))

/** Whose release a folder has, of which run, and which of its files were changed or removed; `undefined` without one. */
export const releaseIn = (published: string) =>
  Effect.tryPromise(async () => {
    const folder = await realpath(published)
    const { files, owner, run } = await readManifest(folder)
    return { owner, run, missing: await changedIn(folder, files) }
  }).pipe(Effect.orElseSucceed(() => undefined))

/** Whether a place has what a later run has made: a process that was stopped for a while must not replace it. */
export const isLater = (there: unknown, run: string): boolean => typeof there === "string" && there > run

/** Why a place with it is left as it is. */
export const laterRun = (run: string): string =>
  `it has the rows of a later run of this output folder, ${run}; ./sluice publish --full replaces them`

/** SHA-256 of the DuckDB file of a release that has one. */
export const snapshotSum = ({ files }: Pick<Manifest, "files">): string =>
  findIn(files, ({ path }) => path === snapshotName, snapshotName).sha256

/** The models that could not be built for a release. */
export const failedModels = ({ problems }: WholeManifest): ReadonlyArray<FailedModel> =>
  problems.map(({ model, problem, kept }) => ({ ...wrong(model, problem), kept }))

interface Content extends Omit<WholeManifest, Times | "problems"> {
  readonly owner?: string | undefined
  readonly problems: ReadonlyArray<FailedModel>
}

/** Written last: a release without a manifest is incomplete. */
export const writeManifest = Effect.fn("publish.writeManifest")(function* (
  folder: string,
  { owner, run, schemaVersion, ...rest }: Content
) {
  const now = new Date(yield* Clock.currentTimeMillis).toISOString()
  yield* write(folder, {
    tool: `sluice ${sluiceVersion}`,
    run,
    ...(owner !== undefined && { owner }),
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
