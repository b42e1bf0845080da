/**
 * The fleet on Effect Cluster: a location is an entity, which the cluster gives to one worker, and to another one if that
 * dies. A message tells it to begin a run, and is kept in PostgreSQL until the run has ended. Two things happen once in the
 * whole fleet, on any worker: runs whose time has come are sent, and the schedule queues a run of every location.
 */
import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import * as ClusterCron from "effect/cluster/ClusterCron"
import * as ClusterSchema from "effect/cluster/ClusterSchema"
import * as Entity from "effect/cluster/Entity"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as Singleton from "effect/cluster/Singleton"
import * as Clock from "effect/Clock"
import type * as Cron from "effect/Cron"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Rpc from "effect/rpc/Rpc"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { dueRuns, enqueueNight, forgetHandled, markDispatched } from "../store.ts"
import type { Worker } from "../worker.ts"

export interface ClusterOptions {
  /** Where the other workers reach this one. */
  readonly host: string
  readonly port: number
  /** How long a worker that gives no sign keeps its locations. */
  readonly leaseMs: number
  readonly schedule: { readonly cron: Cron.Cron; readonly jitterMs: number } | undefined
}

const Location = Entity.make("Location", [
  Rpc.make("Run", {
    payload: { run: Schema.Int, dispatches: Schema.Int },
    primaryKey: ({ dispatches, run }) => `${run}-${dispatches}`
  }).annotate(ClusterSchema.Persisted, true)
])

const forgetEveryMs = 60_000
const dispatchEvery = "1 second"
/** Enough for a night of a large fleet, and little enough for one answer of the database. */
const dispatchMax = 500

export const workerLayer = (worker: Worker, { host, leaseMs, port, schedule }: ClusterOptions) => {
  const address = RunnerAddress.make(host, port)
  const locations = Location.toLayer(
    Effect.gen(function* () {
      const { entityId } = yield* Entity.CurrentAddress
      return Location.of({ Run: ({ payload }) => worker.work({ location: entityId, ...payload }) })
    }),
    { maxIdleTime: "1 minute", mailboxCapacity: "unbounded" }
  )
  const night =
    schedule &&
    ClusterCron.make({
      name: "night",
      cron: schedule.cron,
      execute: Effect.gen(function* () {
        const queued = yield* enqueueNight(schedule.jitterMs).pipe(
          Effect.retry(Schedule.spaced("1 second")),
          Effect.orDie
        )
        yield* Effect.annotateLogs(Effect.logInfo("the schedule queued runs"), { locations: queued.length })
      })
    })
  return Layer.mergeAll(
    locations,
    Singleton.make("dispatch", dispatch),
    night ?? Layer.empty,
    Layer.effectDiscard(Effect.forkScoped(worker.keepLeases)),
    Layer.effectDiscard(Effect.forkScoped(worker.help))
  ).pipe(
    Layer.provide(
      NodeClusterSocket.layer({
        storage: "sql",
        shardingConfig: {
          runnerAddress: Option.some(address),
          runnerListenAddress: Option.some(RunnerAddress.make("0.0.0.0", port)),
          shardLockExpiration: leaseMs,
          shardLockRefreshInterval: leaseMs / 4,
          runnerHealthCheckInterval: "3 seconds",
          refreshAssignmentsInterval: "1 second",
          entityMessagePollInterval: "2 seconds",
          entityTerminationTimeout: "15 seconds"
        }
      })
    )
  )
}

/** A message that is sent twice is kept once, so it is marked as sent afterwards. */
const dispatch = Effect.gen(function* () {
  const client = yield* Location.client
  let forgotAt = 0
  const sendDue = Effect.gen(function* () {
    for (const message of yield* dueRuns(dispatchMax)) {
      yield* client(message.location).Run(message, { discard: true })
      yield* markDispatched(message)
    }
    const now = yield* Clock.currentTimeMillis
    if (now - forgotAt < forgetEveryMs) return
    forgotAt = now
    yield* forgetHandled
  })
  yield* sendDue.pipe(
    Effect.catch((error) =>
      Effect.annotateLogs(Effect.logWarning("runs could not be sent"), { detail: error.message })
    ),
    Effect.andThen(Effect.sleep(dispatchEvery)),
    Effect.forever
  )
})
