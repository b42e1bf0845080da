/**
 * `./sluice sync` and `backfill` of a location of a fleet, if another engine than a worker has started them: takes the fence,
 * and runs sluice again on a tether with the same flags. The newest owner counts: the process of an earlier one ends.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Schedule from "effect/Schedule"
import { hostname } from "node:os"
import { type Outcome, folderOf } from "../child.ts"
import { inTransaction, patiently, rowsOf } from "../database.ts"
import { type Fence, numbersOf, quietMs, release, take } from "../fence.ts"
import { inBucket } from "../state/saving.ts"
import { type Tethered, startTethered } from "../tethered.ts"
import { CommandError } from "../../../console/errors.ts"
import { Output } from "../../../console/streams.ts"
import { fleetSettings, outputSettings } from "../../../settings/settings.ts"
import { type Flags, fleetTokenVariable } from "../../../settings/read.ts"
import { Environment } from "../../../values/environment.ts"
import { exitCodes } from "../../../values/failure.ts"
import { openState, withDatabase } from "./fleet-database.ts"
import { referenceFor } from "./reference.ts"

export const fencedTask = Effect.fn("command.fencedTask")(function* (flags: Flags) {
  const { say } = yield* Output
  const environment = yield* Environment
  const settings = yield* fleetSettings(flags, environment)
  const { locations } = (yield* outputSettings(flags, environment)).wanted
  const [location] = locations
  if (location === undefined || locations.length > 1)
    return yield* refuse("usage", "With fleet.database, a sync is of one location.", "./sluice sync --location …")
  const objects = yield* openState(settings)
  const stopped = Latch.makeUnsafe()
  let child: Tethered | undefined
  for (const signal of ["SIGINT", "SIGTERM"])
    process.on(signal, () => (stopped.openUnsafe() ? child?.stop("SIGTERM") : undefined))
  const run = Effect.gen(function* () {
    const fence = yield* taken(location)
    const isHeld = Effect.map(numbersOf([location]), (numbers) => numbers.get(location) === fence.number)
    yield* Effect.timeoutOption(stopped.await, quietMs(fence, settings.windowMs))
    let isLost = !(yield* isHeld)
    const sync = Effect.gen(function* () {
      const cut: Outcome = { exitCode: null, isCutOff: true }
      if (stopped.isOpen() || isLost) return cut
      const variables = {
        SLUICE_TOKEN: referenceFor(settings.token, location),
        SLUICE_REFRESH_TOKEN: referenceFor(settings.refreshToken, location),
        ...(environment["SLUICE_TOKEN"] === undefined && { [fleetTokenVariable]: "fleet.token" }),
        ...environment
      }
      const output = objects === undefined ? [] : ["--output", folderOf(settings.folder, location)]
      const since = yield* Clock.currentTimeMillis
      child = yield* startTethered([...process.argv.slice(2), ...output], variables, since, "inherit")
      // Meanwhile nobody could stop it.
      if (isLost) child.stop("SIGKILL")
      else if (stopped.isOpen()) child.stop("SIGTERM")
      return { exitCode: yield* child.exitCode, isCutOff: false }
    }).pipe(
      Effect.catch(({ message }) => Effect.succeed({ exitCode: null, isCutOff: false, message })),
      Effect.scoped
    )
    const keeper = yield* Effect.gen(function* () {
      const since = yield* Clock.currentTimeMillis
      if (yield* isHeld) return child?.extend(since)
      isLost = true
      child?.stop("SIGKILL")
    }).pipe(
      Effect.timeout("4 seconds"),
      Effect.ignore,
      Effect.repeat(Schedule.spaced("1 second")),
      Effect.interruptible,
      Effect.forkChild
    )
    const work = objects === undefined ? sync : inBucket(objects, fence, folderOf(settings.folder, location), sync)
    const { exitCode, message } = yield* work
    yield* Fiber.interrupt(keeper)
    const isClean = exitCode !== null || (child === undefined && fence.endedCleanly)
    yield* patiently(inTransaction((_, db) => release(db, fence, isClean)))
    if (isLost) return yield* refuse("locked", `Another owner has taken over ${location}.`, "./sluice fleet status")
    if (message !== undefined) say(message, "warn")
    return exitCode ?? exitCodes.failed
  })
  const exitCode = yield* Effect.uninterruptible(withDatabase(settings, run))
  // The process that was stopped has said so.
  if (stopped.isOpen() && child !== undefined) process.exit(exitCode)
  return exitCode
})

const refuse = (ends: CommandError["ends"], message: string, next: string) =>
  Effect.fail(new CommandError({ ends, message, next }))

/** A worker is not disturbed: it would take the location back. */
const taken = (location: string) =>
  inTransaction(async (_, db): Promise<Fence | { readonly worker: string }> => {
    const [busy] = await rowsOf<{ readonly worker: string }>(
      db,
      "SELECT worker FROM sluice_fleet.runs WHERE state IN ('running', 'cancelling') AND location = $1",
      location
    )
    return busy ?? (await take(db, location, `${hostname()}:${process.pid}`, null))
  }).pipe(
    Effect.flatMap((found) =>
      "worker" in found
        ? refuse("locked", `The worker ${found.worker} runs ${location}.`, "./sluice fleet status")
        : Effect.succeed(found)
    )
  )
