/** `sluice fleet worker`: runs the syncs of the fleet until it is stopped. */
import * as Clock from "effect/Clock"
import * as Cron from "effect/Cron"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { mkdir } from "node:fs/promises"
import { hostname } from "node:os"
import { type Database, withBoss } from "../database.ts"
import { databaseLayer } from "./connect.ts"
import { enqueue } from "../jobs.ts"
import { queues } from "../tables.ts"
import { referenceFor } from "./reference.ts"
import { recurrencesOf } from "../recurrence.ts"
import { type WorkerOptions, work } from "../worker.ts"
import { onDisk } from "../../../output/files.ts"
import { SettingsError } from "../../../settings/errors.ts"
import { fleetSettings } from "../../../settings/settings.ts"
import type { FleetSettings } from "../../../settings/fleet.ts"
import type { Flags } from "../../../settings/read.ts"
import { refuseDemoFolder } from "../../../command/demo-folder.ts"
import { Environment } from "../../../values/environment.ts"
import { wrong } from "../../../values/finding.ts"
import { openState, unavailable } from "./fleet-database.ts"
import { Output } from "../../../console/streams.ts"

/** One process beside these listens. */
const connections = 4
/** The server may be starting, or be started again. */
const restartSeconds = 10
/** How often a worker looks for jobs without a sign of their workers, seconds; one of all workers does. */
const superviseSeconds = 1

export const fleetWorker = Effect.fn("command.fleetWorker")(function* (flags: Pick<Flags, "config">) {
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
  const name = `${hostname()}:${process.pid}`
  const services = yield* Effect.context<Output>()
  const worker: WorkerOptions = {
    name,
    parallel: settings.parallel,
    windowMs: settings.windowMs,
    orderOf: (location, token) => ({
      config: flags.config,
      token: token ?? referenceFor(settings.token, location),
      refreshToken: referenceFor(settings.refreshToken, location),
      tokenName: token === undefined ? "fleet.token" : `the token of location ${location} in the fleet`
    }),
    folder: settings.folder,
    objects: yield* openState(settings),
    environment,
    onLine: (location, line) => Effect.runSyncWith(services)(Effect.annotateLogs(Effect.logDebug(line), { location }))
  }
  const { folder, parallel } = settings
  yield* Effect.annotateLogs(Effect.logInfo("worker started"), { worker: name, parallel, folder })
  say("Next: ./sluice fleet enqueue --all, in another terminal")
  const options = {
    max: connections,
    instanceName: name,
    useListenNotify: true,
    schedule: schedule !== undefined,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: superviseSeconds
  }
  return yield* Effect.gen(function* () {
    if (schedule !== undefined) yield* queueNights(schedule)
    return yield* work(worker)
  }).pipe(Effect.provide(databaseLayer(settings.database, options, restartSeconds)), unavailable)
})

/**
 * pg-boss sends one job at the times of the schedule, which queues a run of every location. A night that came while no worker
 * ran is queued once, when one does. Workers have the same settings; the last one decides.
 */
const queueNights = Effect.fnUntraced(function* (schedule: NonNullable<FleetSettings["schedule"]>) {
  const services = yield* Effect.context<Database>()
  const { fields, jitterMs, timeZone } = schedule
  const [rule, other] = recurrencesOf(fields, timeZone, yield* Clock.currentTimeMillis)
  const queue = Effect.gen(function* () {
    const queued = yield* enqueue(undefined, { kind: "sync" }, jitterMs)
    if (queued.length > 0)
      yield* Effect.annotateLogs(Effect.logInfo("the schedule queued runs"), { locations: queued.length })
  })
  yield* withBoss(async (boss) => {
    const options = { tz: timeZone, missed: "once" } as const
    await boss.schedule(queues.nights, rule!, null, options)
    if (other === undefined) await boss.unschedule(queues.nights, weekdaysKey)
    else await boss.schedule(queues.nights, other, null, { ...options, key: weekdaysKey })
    await boss.work(queues.nights, () => Effect.runPromiseWith(services)(queue))
  })
})

/** The second rule of a crontab that has two. */
const weekdaysKey = "weekdays"

const scheduleOf = Effect.fnUntraced(function* ({ placeOf, schedule }: FleetSettings) {
  if (schedule === undefined) return undefined
  const { fields, timeZone } = schedule
  const cron = Cron.parse(fields, timeZone)
  if (Result.isSuccess(cron)) return schedule
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
