/** `sluice publish`: publishes the warehouse again, or writes one table to stdout. */
import { Clock, Effect } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { exitCodes } from "../values/failure.ts"
import { removeLeftovers } from "../output/leftovers.ts"
import type { Flags } from "../settings/read.ts"
import { manifestName, outputPaths, snapshotName } from "../output/paths.ts"
import { outputSettings } from "../settings/settings.ts"
import { counted } from "../values/finding.ts"
import { resolveTargets } from "../settings/targets.ts"
import { type PublishedTarget, publishNow } from "../run/release.ts"
import { prepare } from "../stores/warehouse/schema.ts"
import { lastRun } from "../stores/warehouse/meta/runs.ts"
import { Warehouse } from "../stores/warehouse/warehouse.ts"
import { catalogueOf } from "../command/prologue.ts"
import { Environment } from "../values/environment.ts"
import { failedError, nothingSynced, usageError } from "../console/errors.ts"
import { logEnd } from "../console/log.ts"
import { modelText, warn } from "../console/findings.ts"
import { Output } from "../console/streams.ts"
import { run } from "../command/recorded.ts"
import type { StdoutFlags } from "./publish-stdout.ts"
import { printEither } from "../console/result.ts"

export const publishCommand = Effect.fn("command.publish")(function* (
  flags: Flags &
    Omit<StdoutFlags, "stdout"> & {
      readonly stdout: string | undefined
      readonly full: boolean
      readonly json: boolean
    }
) {
  const { print, isLogged } = yield* Output
  const output = yield* outputSettings(flags, yield* Environment)
  const { catalogue } = yield* catalogueOf(output)
  const { stdout } = flags
  if (stdout !== undefined) {
    const { publishToStdout } = yield* Effect.promise(() => import("./publish-stdout.ts"))
    return yield* publishToStdout({ ...flags, stdout }, catalogue, output, yield* Clock.currentTimeMillis)
  }
  const useless = (["where", "columns", "format", "profile"] as const).find((flag) => flags[flag] !== undefined)
  if (useless !== undefined)
    return yield* usageError(
      `--${useless} needs --stdout: it selects what one table writes to stdout.`,
      "./sluice publish --help"
    )
  if (!existsSync(outputPaths(output.folder).warehouse)) return yield* nothingSynced(output.folder)
  const targets = yield* resolveTargets(output, catalogue)
  const {
    due,
    files,
    folder,
    problems,
    targets: others
  } = yield* Effect.gen(function* () {
    yield* removeLeftovers(output.folder)
    // The definitions may be newer than the last sync.
    yield* prepare(catalogue)
    const last = yield* lastRun()
    if (last === undefined) return yield* nothingSynced(output.folder)
    return yield* publishNow(catalogue, output, { run: last.id, full: flags.full, targets })
  }).pipe(
    Effect.provide(Warehouse.layer(outputPaths(output.folder).warehouse, { ...output, access: "write" })),
    (published) =>
      run("publish", published, {
        output,
        catalogue,
        detailOf: ({ due, files, problems }) => ({
          due,
          files: files.length,
          exitCode: problems.length === 0 ? 0 : exitCodes.partial
        })
      })
  )
  if (due === "nothing read")
    return yield* failedError(
      `No list of the service was read to its end yet, so there is nothing to publish from ${output.folder}.`,
      "./sluice sync"
    )
  const exitCode = problems.length === 0 ? 0 : exitCodes.partial
  const modelProblems = problems.map(modelText)
  const next =
    due === "not wanted"
      ? "./sluice status"
      : `open ${join(folder, snapshotName)} with any DuckDB client, or see ${join(folder, manifestName)}.`
  const data = {
    folder,
    modelProblems,
    targets: others.map(({ delivered, files, folder, isNew, name }) => ({
      name,
      ...(folder !== undefined && { folder }),
      isNew,
      files: files.length,
      ...(delivered && { delivered })
    })),
    files: files.map(({ path, table, rows, bytes, sha256 }) => ({ path, table, rows, bytes, sha256 }))
  }
  const forPeople = Effect.gen(function* () {
    if (isLogged("info") && due !== "not wanted")
      print(
        due === "unchanged"
          ? `Nothing has changed since ${folder} was published.`
          : `${files.length} files in ${folder}`
      )
    if (isLogged("info")) for (const target of others) print(deliveredText(target))
    yield* warn(modelProblems)
  })
  yield* printEither("publish", { exitCode, next, data }, flags.json, forPeople)
  yield* logEnd(exitCode, { status: "complete", files: files.length })
  return exitCode
})

/** What a target has got, in words. */
export const deliveredText = ({ delivered, files, folder, isNew, name }: Omit<PublishedTarget, "problems">) => {
  const { changed, to, unit } = delivered ?? { changed: isNew ? files.length : 0, to: folder ?? name, unit: "file" }
  const what = changed === 0 ? "nothing has changed" : counted(changed, unit) + (delivered ? " changed" : "")
  return `${name}: ${what} in ${to}`
}
