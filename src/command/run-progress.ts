/**
 * `progress.json` in the output folder: what a sync or backfill has done so far. Other commands read it while the run
 * has the warehouse open. A killed run leaves the file, so readers compare its process id with the holder of the lock.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { writeAtomically } from "../output/files.ts"
import { outputPaths } from "../output/paths.ts"

const RunProgress = Schema.Struct({
  command: Schema.String,
  pid: Schema.Number,
  startedAt: Schema.String,
  updatedAt: Schema.String,
  requests: Schema.Number,
  planned: Schema.optionalKey(
    Schema.Struct({
      min: Schema.Number,
      max: Schema.optionalKey(Schema.Number),
      likely: Schema.optionalKey(Schema.Number)
    })
  ),
  records: Schema.Number
})
type RunProgress = typeof RunProgress.Type

const intervalMs = 2000

/** Writes the file every 2 s until it is interrupted, then removes it. A file that cannot be written does not stop the run. */
export const reportRunProgress = Effect.fnUntraced(function* (
  folder: string,
  command: string,
  sumsNow: () => Pick<RunProgress, "requests" | "planned" | "records">
) {
  const path = outputPaths(folder).progress
  const startedAt = yield* Clock.currentTimeMillis
  const write = Effect.gen(function* () {
    const progress: RunProgress = {
      command,
      pid: process.pid,
      startedAt: new Date(startedAt).toISOString(),
      updatedAt: new Date(yield* Clock.currentTimeMillis).toISOString(),
      ...sumsNow()
    }
    yield* Effect.ignore(Effect.tryPromise(() => writeAtomically(path, JSON.stringify(progress))))
  })
  const written = Effect.repeat(write, Schedule.spaced(intervalMs))
  yield* written.pipe(Effect.ensuring(Effect.ignore(Effect.tryPromise(() => rm(path, { force: true })))))
})

/** The progress of the run with this process id; `undefined` if it has reported none. */
export const readRunProgress = (folder: string, pid: number | undefined): RunProgress | undefined => {
  try {
    const text = readFileSync(outputPaths(folder).progress, "utf8")
    const progress = Option.getOrUndefined(Schema.decodeUnknownOption(Schema.fromJsonString(RunProgress))(text))
    return progress?.pid === pid ? progress : undefined
  } catch {
    return undefined
  }
}
