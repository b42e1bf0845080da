/** `sluice fleet worker`: runs the syncs of the fleet until it is stopped. */
import * as Cron from "effect/Cron"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { randomUUID } from "node:crypto"
import { mkdir } from "node:fs/promises"
import { hostname } from "node:os"
import { databaseLayer, onWake } from "../database.ts"
import { queueNights } from "../night.ts"
import { referenceFor } from "../reference.ts"
import { openObjects } from "../state/objects.ts"
import { makeWorker } from "../worker.ts"
import { onDisk } from "../../../output/files.ts"
import { SettingsError } from "../../../settings/errors.ts"
import { fleetSettings } from "../../../settings/settings.ts"
import type { FleetSettings } from "../../../settings/fleet.ts"
import type { Flags } from "../../../settings/read.ts"
import { refuseDemoFolder } from "../../../run/demo-folder.ts"
import { Environment } from "../../../values/environment.ts"
import { wrong } from "../../../values/finding.ts"
import { unavailable } from "./fleet-database.ts"
import { Output } from "../../../run/console/output.ts"

/** A worker that gives no sign for this long loses its locations. */
const leaseMs = 8000
/** One listens, one is for a statement that is slow, and one for the leases. */
const connections = 3

export const fleetWorker = Effect.fn("cli.fleetWorker")(function* (flags: Pick<Flags, "config">) {
  const { keepSecret, say } = yield* Output
  const environment = yield* Environment
  const settings = yield* fleetSettings(flags, environment)
  keepSecret(Redacted.value(settings.database))
  const schedule = yield* scheduleOf(settings)
  yield* refuseDemoFolder(
    settings.folder,
    [settings.baseUrl],
    (other) => `set fleet.state to another folder, such as fleet-${other}`
  )
  yield* onDisk(settings.folder, "created", () => mkdir(settings.folder, { recursive: true }))
  const bucket = yield* settings.bucket
  for (const secret of [bucket?.key, bucket?.secret]) if (secret !== undefined) keepSecret(Redacted.value(secret))
  const name = `${hostname()}:${process.pid}`
  const services = yield* Effect.context<Output>()
  const worker = makeWorker({
    owner: {
      // A worker that is started again has nothing of what it had before but the copies of folders.
      name: `${name} ${randomUUID()}`,
      leaseMs,
      cache: bucket && `${hostname()}:${settings.folder}`
    },
    parallel: settings.parallel,
    windowMs: settings.windowMs,
    orderOf: (location, token) => ({
      config: flags.config,
      token: token ?? referenceFor(settings.token, location),
      refreshToken: referenceFor(settings.refreshToken, location)
    }),
    folder: settings.folder,
    objects: bucket && (yield* Effect.promise(() => openObjects(bucket))),
    environment,
    onLine: (location, line) => Effect.runSyncWith(services)(Effect.annotateLogs(Effect.logDebug(line), { location }))
  })
  yield* Effect.logInfo("worker started").pipe(
    Effect.annotateLogs({
      worker: name,
      parallel: settings.parallel,
      state: bucket?.place ?? settings.folder
    })
  )
  say("Next: ./sluice fleet enqueue --all, in another terminal")
  return yield* Effect.gen(function* () {
    yield* Effect.forkScoped(onWake(worker.wake))
    if (schedule !== undefined) yield* Effect.forkScoped(queueNights(schedule))
    return yield* worker.work
  }).pipe(Effect.scoped, Effect.provide(databaseLayer(settings.database, connections)), unavailable)
})

const scheduleOf = Effect.fnUntraced(function* ({ placeOf, schedule }: FleetSettings) {
  if (schedule === undefined) return undefined
  const { fields, jitterMs, timeZone } = schedule
  const cron = Cron.parse(fields, timeZone)
  if (Result.isSuccess(cron)) return { name: `${fields} ${timeZone}`, cron: cron.success, jitterMs }
  const isZone = Result.isFailure(Cron.parse("0 0 * * *", timeZone))
  const path = isZone ? "fleet.time_zone" : "fleet.schedule"
  return yield* new SettingsError({
    problems: [
      wrong(placeOf(path), {
        _tag: "WrongValue",
        path,
        value: isZone ? timeZone : fields,
        expected: isZone ? "a time zone such as Europe/Berlin" : "five fields of a crontab, such as 30 2 * * *"
      })
    ]
  })
})
