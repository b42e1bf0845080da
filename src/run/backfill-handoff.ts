/**
 * How a sync takes over the warehouse from a running backfill: there is one writer, and a backfill may take days.
 * Both communicate through two small files in the output folder.
 */
import { Effect, Schedule } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { onDisk } from "../output/files.ts"
import { outputPaths } from "../output/paths.ts"
import { RunWait } from "../output/lock.ts"
import { CommandError } from "../console/errors.ts"
import { Output } from "../console/streams.ts"

const runningIn = (folder: string): string => outputPaths(folder).backfillRunning
const stopIn = (folder: string): string => outputPaths(folder).backfillStop
const touch = (path: string) => onDisk(path, "written", () => writeFile(path, String(process.pid), { mode: 0o600 }))
const remove = (path: string) => onDisk(path, "removed", () => rm(path, { force: true }))

/** Runs a backfill, which ends early when a sync requests the warehouse. */
export const yieldToSync = <A, E, R>(folder: string, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    yield* remove(stopIn(folder))
    yield* touch(runningIn(folder))
    return yield* Effect.raceFirst(work, whenRequested(folder))
  })

const whenRequested = Effect.fnUntraced(function* (folder: string) {
  const isRequested = Effect.sync(() => existsSync(stopIn(folder)))
  yield* Effect.repeat(isRequested, { until: Boolean, schedule: Schedule.spaced(500) })
  return yield* new CommandError({
    ends: "later",
    message: "A sync needs the warehouse, so the backfill stopped. Its progress is saved.",
    next: "Run the same command again after the sync; it resumes where it stopped."
  })
})

/** Runs after the warehouse is closed. A second backfill that found the warehouse locked leaves the first one's file. */
export const releaseHandoff = (folder: string) =>
  Effect.suspend(() => {
    const path = runningIn(folder)
    const isOurs = existsSync(path) && readFileSync(path, "utf8") === String(process.pid)
    // A file that remains makes the next sync wait a minute, and no longer.
    return isOurs ? Effect.ignore(remove(path)) : Effect.void
  })

/** A backfill that stops closes the warehouse within seconds. */
const waitMs = 60_000

/** Runs the work again after a backfill that held the warehouse has stopped. A backfill stops at once: `--wait` is for others. */
export const requestHandoff = <A, E, R>(folder: string, work: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => (existsSync(runningIn(folder)) ? Effect.provideService(work, RunWait, 0) : work)).pipe(
    Effect.catchIf(
      (error) => error instanceof CommandError && error.ends === "locked" && existsSync(runningIn(folder)),
      () =>
        Effect.gen(function* () {
          const { say } = yield* Output
          say("A backfill is running; asking it to stop.")
          yield* touch(stopIn(folder))
          const isRunning = Effect.sync(() => existsSync(runningIn(folder)))
          yield* Effect.repeat(isRunning, { while: Boolean, schedule: Schedule.spaced(200), times: waitMs / 200 })
          return yield* work
        })
    )
  )
