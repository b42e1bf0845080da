/**
 * `./sluice sync` and `backfill` of a location of a fleet, if another engine than a worker has started them: takes the fence,
 * and runs sluice again on a tether with the same flags. The newest owner counts: the process of an earlier one ends.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { hostname } from "node:os"
import { type Outcome, folderOf } from "../child.ts"
import { inTransaction, patiently, rowsOf } from "../database.ts"
import { type Fence, numbersOf, quietMs, release, take } from "../fence.ts"
import { openObjects } from "../state/objects.ts"
import { inBucket } from "../state/saving.ts"
import { type Tethered, startTethered } from "../../../run/tethered.ts"
import { CommandError } from "../../../run/console/errors.ts"
import { Output } from "../../../run/console/output.ts"
import { fleetSettings, reportSettings } from "../../../settings/settings.ts"
import type { FleetSettings } from "../../../settings/fleet.ts"
import type { Flags } from "../../../settings/read.ts"
import { Environment } from "../../../values/environment.ts"
import { exitCodes } from "../../../values/failure.ts"
import { withDatabase } from "./fleet-database.ts"
import { referenceFor } from "./reference.ts"

export const fencedTask = Effect.fn("cli.fencedTask")(function* (flags: Flags) {
  const { keepSecret, say } = yield* Output
  const environment = yield* Environment
  const settings = yield* fleetSettings(flags, environment)
  const { locations } = yield* reportSettings(flags, environment)
  const [location] = locations
  const bucket = yield* settings.bucket
  for (const secret of [bucket?.key, bucket?.secret]) if (secret !== undefined) keepSecret(Redacted.value(secret))
  if (location === undefined || (bucket !== undefined && locations.length > 1))
    return yield* refuse("usage", "A sync with its state in a bucket is of one location.", "./sluice sync --location …")
  const objects = bucket && (yield* Effect.promise(() => openObjects(bucket)))
  const stopped = Latch.makeUnsafe()
  let child: Tethered | undefined
  const stop = () => {
    if (stopped.openUnsafe()) child?.stop("SIGTERM")
  }
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop)
  const run = Effect.gen(function* () {
    const fences = yield* taken(locations)
    yield* Effect.timeoutOption(stopped.await, Math.max(...fences.map((fence) => quietMs(fence, settings.windowMs))))
    let isLost = !(yield* isHeld(fences))
    const sync = Effect.callback<Outcome>((resume) => {
      if (stopped.isOpen() || isLost) return resume(Effect.succeed({ exitCode: null, isCutOff: true }))
      const variables = {
        ...environment,
        ...(locations.length === 1 && credentialsOf(settings, location, environment))
      }
      const output = objects === undefined ? [] : ["--output", folderOf(settings.folder, location)]
      child = startTethered([...process.argv.slice(2), ...output], variables, Date.now(), "inherit")
      child.process.once("exit", (exitCode) => resume(Effect.succeed({ exitCode, isCutOff: false })))
    })
    const keep = Effect.gen(function* () {
      const since = yield* Clock.currentTimeMillis
      if (yield* isHeld(fences)) child?.extend(since)
      else isLost = child?.stop("SIGKILL") !== null
    }).pipe(Effect.timeout("4 seconds"), Effect.ignore, Effect.repeat(Schedule.spaced("1 second")))
    const keeper = yield* Effect.forkChild(Effect.interruptible(keep))
    const work = objects === undefined ? sync : inBucket(objects, fences[0]!, folderOf(settings.folder, location), sync)
    const { exitCode, message } = yield* work
    yield* Fiber.interrupt(keeper)
    const isClean = exitCode !== null || (child === undefined && fences.every((fence) => fence.endedCleanly))
    yield* patiently(
      inTransaction(async (_, db) => {
        for (const fence of fences) await release(db, fence, isClean)
      })
    )
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
const taken = (locations: ReadonlyArray<string>) =>
  inTransaction(async (_, db) => {
    const [busy] = await rowsOf<{ readonly location: string; readonly worker: string }>(
      db,
      `SELECT location, worker FROM sluice_fleet.runs
       WHERE state IN ('running', 'cancelling') AND location IN (SELECT jsonb_array_elements_text($1::jsonb))`,
      JSON.stringify(locations)
    )
    if (busy !== undefined) return busy
    const fences: Array<Fence> = []
    for (const location of locations) fences.push(await take(db, location, `${hostname()}:${process.pid}`, null))
    return fences
  }).pipe(
    Effect.flatMap((found) =>
      "worker" in found
        ? refuse("locked", `The worker ${found.worker} runs ${found.location}.`, "./sluice fleet status")
        : Effect.succeed(found)
    )
  )

const isHeld = (fences: ReadonlyArray<Fence>) =>
  Effect.map(numbersOf(fences.map(({ location }) => location)), (numbers) =>
    fences.every(({ location, number }) => numbers.get(location) === number)
  )

/** As for a worker, unless the environment has others. */
const credentialsOf = (
  { refreshToken, token }: FleetSettings,
  location: string,
  environment: Readonly<Record<string, string | undefined>>
) => ({
  SLUICE_TOKEN: environment["SLUICE_TOKEN"] ?? referenceFor(token, location),
  SLUICE_REFRESH_TOKEN: environment["SLUICE_REFRESH_TOKEN"] ?? referenceFor(refreshToken, location)
})
