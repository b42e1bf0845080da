/** What a worker does: runs the sync of each location that pg-boss gives it in a process, and stores how it ended. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Schedule from "effect/Schedule"
import type { PgBoss } from "pg-boss"
import { type Database, patiently, withBoss } from "./database.ts"
import { type Child, type Order, type Outcome, folderOf, startChild } from "./child.ts"
import { numbersOf, quietMs } from "./fence.ts"
import { type Claim, type Job, type Result, begin, end, touched } from "./jobs.ts"
import { type Next, nextOf } from "./retry.ts"
import type { Objects } from "./state/objects.ts"
import { inBucket } from "./state/saving.ts"
import { heartbeatSeconds, queues } from "./tables.ts"
import { tetherMs } from "./tether.ts"
import { type TetheredProcesses, tetheredProcesses } from "./tethered.ts"

export interface WorkerOptions {
  readonly name: string
  /** Locations that run side by side. */
  readonly parallel: number
  /** How long the service counts a request. */
  readonly windowMs: number
  /** What is the same for every location. */
  readonly orderOf: (
    location: string,
    token: string | undefined
  ) => Pick<Order, "token" | "refreshToken" | "tokenName" | "config">
  /** The folder of the output folders. */
  readonly folder: string
  /** Where they are kept; without it, the folder is shared by all workers. */
  readonly objects: Objects | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly onLine: (location: string, line: string) => void
}

/** A run of this worker. */
interface Held {
  readonly job: Job
  claim: Claim | undefined
  child: Child | undefined
  /** When it was last certain that the run is this worker's, epoch milliseconds. */
  since: number
  /** Open when the run has to end. */
  readonly ending: Latch.Latch
}

const signEveryMs = 1000
/** How often a place that is free asks for a run, beside each time that one is announced: one that is tried again is not. */
const pollSeconds = 2
/** How long a process may take to save its state, and then how long the bucket and the database. */
const [stopMs, storeMs] = [8000, 8000]

/** Runs until its scope ends. Then the processes save their state, and another worker continues. */
export const work = Effect.fnUntraced(function* (options: WorkerOptions) {
  const services = yield* Effect.context<Database>()
  /** A run is here twice if this worker has lost it, and got it again before the first process had ended. */
  const held = new Set<Held>()
  const processes = yield* tetheredProcesses
  const interrupted = new AbortController()
  let isStopping = false
  yield* Effect.forkScoped(signs(held))

  const handle = Effect.fnUntraced(function* (job: Job) {
    const since = yield* Clock.currentTimeMillis
    const one: Held = { job, claim: undefined, child: undefined, since, ending: Latch.makeUnsafe(isStopping) }
    held.add(one)
    const forget = Effect.sync(() => held.delete(one))
    return yield* Effect.ensuring(run(one), forget)
  })

  const run = Effect.fnUntraced(function* (one: Held) {
    const { job } = one
    const claim = yield* patiently(begin(job, options.name))
    if (claim === undefined) return []
    one.claim = claim
    yield* Effect.timeoutOption(one.ending.await, quietMs(claim, options.windowMs, silentMs(job)))
    const result = resultOf(yield* synced(one, claim, options, processes), one, claim, yield* Clock.currentTimeMillis)
    const { exitCode, message, next, requests } = result
    const state = next.state === "waiting" && isStopping ? "queued" : next.state
    const output = { state, exitCode, message, requests, worker: options.name }
    const isStored = yield* patiently(end(job, claim, output, result))
    yield* Effect.annotateLogs(Effect.logInfo(isStored ? "run ended" : "run lost to another owner"), {
      location: claim.location,
      run: job.id,
      state,
      exit_code: exitCode,
      requests
    })
    // The transaction has stored what did not fail.
    return [{ id: job.id, status: isStored && state === "failed" ? "deadletter" : "failed", output } as const]
  })

  const stop = async (boss: PgBoss) => {
    isStopping = true
    for (const one of held) close(one, "SIGTERM")
    const late = setTimeout(() => held.forEach((one) => close(one, "SIGKILL")), stopMs)
    const last = setTimeout(() => interrupted.abort(), stopMs + storeMs)
    await boss.offWork(queues.runs, { wait: true })
    for (const timer of [late, last]) clearTimeout(timer)
  }
  const how = {
    localConcurrency: options.parallel,
    pollingIntervalSeconds: pollSeconds,
    notifyPollingIntervalSeconds: pollSeconds,
    // This worker says itself that it lives, once for all its runs.
    heartbeatRefreshSeconds: heartbeatSeconds - 1,
    includeMetadata: true,
    perJobResults: true
  } as const
  const { signal } = interrupted
  yield* Effect.acquireRelease(
    withBoss((boss) =>
      boss.work(queues.runs, how, ([job]: Array<Job>) => Effect.runPromiseWith(services)(handle(job!), { signal }))
    ),
    () => Effect.ignore(withBoss(stop))
  )
  return yield* Effect.never
}, Effect.scoped)

/** Says that the worker lives, and with that extends the life of its processes. Ends those that are not its own any more. */
const signs = (held: ReadonlySet<Held>) =>
  Effect.gen(function* () {
    const since = yield* Clock.currentTimeMillis
    const watched = [...held].map((one) => ({ one, job: one.job, claim: one.claim }))
    if (watched.length === 0) return
    const all = watched.map(({ job }) => job)
    const jobs = yield* withBoss((boss) => touched(boss, all))
    const numbers = yield* numbersOf(all.map(({ singletonKey }) => singletonKey!))
    for (const { claim, job, one } of watched)
      if (claim !== undefined && numbers.get(claim.location) !== claim.number) close(one, "SIGKILL")
      else if (!jobs.has(job.id)) close(one, "SIGTERM")
      else if (!one.ending.isOpen()) one.child?.extend((one.since = since))
  }).pipe(
    Effect.timeout("4 seconds"),
    // Without the database, the processes end by themselves.
    Effect.catch((error) =>
      Effect.annotateLogs(Effect.logWarning("the database does not answer"), { detail: error.message })
    ),
    Effect.repeat(Schedule.spaced(signEveryMs))
  )

/** A process that is not extended any more has as long to save its state as its tether is. */
const close = ({ child, ending }: Held, signal: NodeJS.Signals) => {
  if (ending.openUnsafe() || signal === "SIGKILL") child?.stop(signal)
}

/** If pg-boss has heard nothing of the owner before, its process has ended a while ago. */
const silentMs = ({ output }: Job): number => {
  const { message } = (output as { readonly value?: { readonly message?: string } } | null)?.value ?? {}
  return message === "job heartbeat timeout" ? heartbeatSeconds * 1000 : 0
}

/** What is said of a process that the worker did not begin, because it stops. */
const notBegun: Outcome = { exitCode: null, isCutOff: true }

const synced = (
  one: Held,
  { location, ...claim }: Claim,
  { environment, folder, objects, onLine, orderOf }: WorkerOptions,
  processes: TetheredProcesses
) => {
  const process = Effect.gen(function* () {
    if (one.ending.isOpen()) return notBegun
    const { from, kind, to } = one.job.data
    const order = { location, kind, from, to, state: folder, ...orderOf(location, claim.token ?? undefined) }
    const child = yield* startChild(processes, environment, order, one.since, (line) => onLine(location, line))
    one.child = child
    // Meanwhile nobody could stop it.
    if (one.ending.isOpen()) child.stop("SIGTERM")
    return yield* child.ended
  })
  if (objects === undefined || one.ending.isOpen()) return process
  return inBucket(objects, { location, ...claim }, folderOf(folder, location), process)
}

const resultOf = (outcome: Outcome, { ending, job, since }: Held, claim: Claim, now: number): Result => {
  const { exitCode, isCutOff, resumeAt } = outcome
  const isUncertain = isCutOff || (exitCode === null && (ending.isOpen() || now - since > tetherMs - signEveryMs))
  const next: Next = isUncertain
    ? // It was not certain any more that the run is this worker's: it begins again, wherever that is.
      { state: "waiting", notBefore: now, isFailure: false }
    : nextOf({ exitCode, resumeAt, failures: job.data.failures ?? 0, now })
  return { ...outcome, next, isClean: outcome === notBegun ? claim.endedCleanly : exitCode !== null }
}
