/**
 * How a sync gets the warehouse from a backfill: there is one writer, a backfill may take days, and the sync goes first.
 * They meet in two small files of the output folder.
 */
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { onDisk } from "../io/files.ts"
import { outputPaths } from "../settings/paths.ts"
import { CommandError } from "./errors.ts"
import { Output } from "./output.ts"

const runningIn = (folder: string): string => outputPaths(folder).backfillRunning
const stopIn = (folder: string): string => outputPaths(folder).backfillStop
const touch = (path: string) => onDisk(path, "written", () => writeFile(path, String(process.pid), { mode: 0o600 }))
const remove = (path: string) => onDisk(path, "removed", () => rm(path, { force: true }))

/** The work of a backfill, which ends early where a sync asks for it. */
export const yieldToSync = <A, E, R>(folder: string, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    yield* remove(stopIn(folder))
    yield* touch(runningIn(folder))
    return yield* Effect.raceFirst(work, whenRequested(folder))
  })

const whenRequested = Effect.fnUntraced(function* (folder: string) {
  while (!existsSync(stopIn(folder))) yield* Effect.sleep(500)
  return yield* new CommandError({
    ends: "later",
    message: "A sync waits for the warehouse, so the backfill makes way. Everything read is kept.",
    next: "Run the same command again when the sync has ended; it goes on where it stopped."
  })
})

/** When its work is over and the warehouse closed. A second one, which did not get in, leaves the first one's file. */
export const releaseHandoff = (folder: string) =>
  Effect.suspend(() => {
    const path = runningIn(folder)
    const isOurs = existsSync(path) && readFileSync(path, "utf8") === String(process.pid)
    // A file that remains makes the next sync wait a minute, and no longer.
    return isOurs ? Effect.ignore(remove(path)) : Effect.void
  })

/** A stopped backfill closes the warehouse within seconds; a killed one has left it. */
const waitMs = 60_000

/** Runs the work again where a backfill held the warehouse and makes way. */
export const requestHandoff = <A, E, R>(folder: string, work: Effect.Effect<A, E, R>) =>
  work.pipe(
    Effect.catchIf(
      (error) => error instanceof CommandError && error.ends === "locked" && existsSync(runningIn(folder)),
      () =>
        Effect.gen(function* () {
          const { say } = yield* Output
          say("A backfill is running; it is asked to make way.")
          yield* touch(stopIn(folder))
          for (let waited = 0; waited < waitMs && existsSync(runningIn(folder)); waited += 200) yield* Effect.sleep(200)
          return yield* work
        })
    )
  )
