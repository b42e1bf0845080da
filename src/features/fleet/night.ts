/** The schedule of the fleet: queues a run of every location at its times, once, however many workers there are. */
import * as Clock from "effect/Clock"
import * as Cron from "effect/Cron"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { patiently } from "./database.ts"
import { enqueueNight, nextNight } from "./store.ts"

export interface NightSchedule {
  /** Its fields and time zone, by which workers know it as the same. */
  readonly name: string
  readonly cron: Cron.Cron
  readonly jitterMs: number
}

const lookEvery = "1 second"

/** Workers that start while a night waits take it over, so one that came while no worker ran is queued up to a day later. */
export const queueNights = ({ cron, jitterMs, name }: NightSchedule) =>
  Effect.gen(function* () {
    const after = (time: number) => Cron.next(cron, new Date(time)).getTime()
    const now = yield* Clock.currentTimeMillis
    const { at, isDue } = yield* nextNight(name, after(now))
    if (!isDue) return
    // The clock of the database has reached this night, and the one of this worker may not have.
    const queued = yield* enqueueNight(name, at, after(Math.max(now, at)), jitterMs)
    if (queued.length > 0)
      yield* Effect.annotateLogs(Effect.logInfo("the schedule queued runs"), { locations: queued.length })
  }).pipe(patiently, Effect.repeat(Schedule.spaced(lookEvery)))
