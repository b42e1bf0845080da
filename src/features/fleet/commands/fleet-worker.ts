/** `sluice fleet worker`: runs the syncs of the fleet until it is stopped. */
import * as Cron from "effect/Cron"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { randomUUID } from "node:crypto"
import { mkdir } from "node:fs/promises"
import { workerLayer } from "../cluster/cluster.ts"
import { databaseLayer } from "../cluster/database.ts"
import { referenceFor } from "../reference.ts"
import { openBucket } from "../state/objects.ts"
import { Slots } from "../slots.ts"
import { makeWorker } from "../worker.ts"
import { onDisk } from "../../../output/files.ts"
import { freePort } from "../../../output/free-port.ts"
import { SettingsError } from "../../../settings/errors.ts"
import { fleetSettings } from "../../../settings/settings.ts"
import type { FleetSettings } from "../../../settings/fleet.ts"
import type { Flags } from "../../../settings/read.ts"
import { refuseDemoFolder } from "../../../run/demo-folder.ts"
import { Environment } from "../../../values/environment.ts"
import { unavailable } from "./fleet-database.ts"
import { Output } from "../../../run/console/output.ts"

export interface WorkerFlags extends Pick<Flags, "config"> {
  readonly host: string | undefined
  readonly port: number | undefined
}

/** A worker that gives no sign for this long loses its locations. */
const leaseMs = 8000
/** One holds the locks of the cluster; the others are for statements. */
const connections = 5

export const fleetWorker = Effect.fn("cli.fleetWorker")(function* (flags: WorkerFlags) {
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
  for (const secret of bucket === undefined ? [] : [bucket.key, bucket.secret]) keepSecret(Redacted.value(secret))
  const { host = "127.0.0.1" } = flags
  const port = flags.port ?? (yield* Effect.promise(() => freePort("0.0.0.0")))
  const services = yield* Effect.context<Output>()
  const worker = makeWorker({
    // A worker that is started again has nothing of what it had before.
    owner: { name: `${host}:${port} ${randomUUID()}`, leaseMs },
    slots: new Slots(settings.parallel),
    windowMs: settings.windowMs,
    orderOf: (location, token) => ({
      config: flags.config,
      token: token ?? referenceFor(settings.token, location),
      refreshToken: referenceFor(settings.refreshToken, location)
    }),
    folder: settings.folder,
    objects: bucket && (yield* Effect.promise(() => openBucket(bucket))),
    environment,
    onLine: (location, line) => Effect.runSyncWith(services)(Effect.annotateLogs(Effect.logDebug(line), { location }))
  })
  yield* Effect.logInfo("worker started").pipe(
    Effect.annotateLogs({
      address: `${host}:${port}`,
      parallel: settings.parallel,
      state: bucket?.place ?? settings.folder
    })
  )
  say("Next: ./sluice fleet enqueue --all, in another terminal")
  return yield* Layer.launch(
    Layer.provide(workerLayer(worker, { host, port, leaseMs, schedule }), databaseLayer(settings.database, connections))
  ).pipe(unavailable)
})

const scheduleOf = Effect.fnUntraced(function* ({ placeOf, schedule }: FleetSettings) {
  if (schedule === undefined) return undefined
  const { fields, jitterMs, timeZone } = schedule
  const cron = Cron.parse(fields, timeZone)
  if (Result.isSuccess(cron)) return { cron: cron.success, jitterMs }
  const isZone = Result.isFailure(Cron.parse("0 0 * * *", timeZone))
  const path = isZone ? "fleet.time_zone" : "fleet.schedule"
  return yield* new SettingsError({
    problems: [
      {
        _tag: "WrongValue",
        path,
        place: placeOf(path),
        value: isZone ? timeZone : fields,
        expected: isZone ? "a time zone such as Europe/Berlin" : "five fields of a crontab, such as 30 2 * * *"
      }
    ]
  })
})
