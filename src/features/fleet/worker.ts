/** What a worker does with a location: owns it, runs its sync in a process, and stores how it ended. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { patiently } from "./cluster/database.ts"
import { type Child, type Order, type Outcome, folderOf, startChild } from "./child.ts"
import { nextOf } from "./retry.ts"
import { inBucket, save } from "./saving.ts"
import type { Slots } from "./slots.ts"
import type { Objects } from "./state/objects.ts"
import type { Session } from "./state/session.ts"
import * as store from "./store.ts"
import { tetherMs } from "./tether.ts"

export interface WorkerOptions {
  readonly owner: store.Owner
  readonly slots: Slots
  /** How long the service counts a request. */
  readonly windowMs: number
  /** What is the same for every location. */
  readonly orderOf: (location: string, token: string | undefined) => Pick<Order, "token" | "refreshToken" | "config">
  /** The folder of the output folders. */
  readonly folder: string
  /** Where they are kept; without it, the folder is shared by all workers. */
  readonly objects: Objects | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly onLine: (location: string, line: string) => void
}

/** What the worker owns now. */
interface Held {
  readonly generation: string
  /** When this was last certain, epoch milliseconds. */
  since: number
  child: Child | undefined
  session: Session | undefined
  isCancelled: boolean
}

const extendEveryMs = 1000
const stopMs = 8000
const askEveryMs = 500
/** Locations stay with their worker, which has their folders, unless it is this late. */
const lateMs = 10_000

export type Worker = ReturnType<typeof makeWorker>

export const makeWorker = (options: WorkerOptions) => {
  const { owner, slots, windowMs } = options
  const heldByLocation = new Map<string, Held>()

  /** Extends the leases, and with each the life of its process. Ends the processes of what was lost or is cancelled. */
  const keepLeases = Effect.gen(function* () {
    const since = yield* Clock.currentTimeMillis
    const watched = new Map(heldByLocation)
    if (watched.size > 0) {
      const rows = yield* store.extend(owner, [...watched.keys()])
      const kept = new Map(rows.map((row) => [row.location, row]))
      for (const [location, held] of watched) {
        const row = kept.get(location)
        if (row?.generation !== held.generation) {
          held.child?.stop("SIGKILL")
          continue
        }
        held.since = since
        held.child?.extend(since)
        if (row.isCancelled && !held.isCancelled) {
          held.isCancelled = true
          held.child?.stop("SIGTERM")
        }
      }
    }
  }).pipe(
    Effect.timeout("4 seconds"),
    // Without the database, the processes end by themselves before their leases do.
    Effect.catch((error) =>
      Effect.annotateLogs(Effect.logWarning("the database does not answer"), { detail: error.message })
    ),
    Effect.andThen(Effect.sleep(extendEveryMs)),
    Effect.forever
  )

  /** Ends when the run has ended or was put back. While another worker has the location, this one waits: that may die. */
  const work = (message: store.Message) =>
    Effect.gen(function* () {
      for (;;) {
        const open = yield* patiently(store.openRun(message))
        if (open === undefined) return
        if (!open.isOwned && (yield* slots.withSlot(open.freshAt)(attempt(message)))) return
        yield* Effect.sleep(askEveryMs)
      }
    })

  /**
   * Begins runs that wait for another worker while none waits for this one. Hashes give some workers more locations than
   * others, and some locations take longer. The other worker stays responsible, and continues if this one dies.
   */
  const help = Effect.gen(function* () {
    let busyAt = yield* Clock.currentTimeMillis
    for (;;) {
      yield* Effect.sleep(askEveryMs)
      const now = yield* Clock.currentTimeMillis
      if (slots.hasWaiting) busyAt = now
      if (!slots.hasFree || now - busyAt < lateMs) continue
      const late = yield* patiently(store.lateRun(lateMs))
      if (late === undefined) continue
      yield* Effect.annotateLogs(Effect.logInfo("run taken from a busy worker"), {
        location: late.location,
        run: late.run
      })
      yield* Effect.forkScoped(slots.withSlot(0)(attempt(late)))
    }
  })

  /** True if there is nothing left to do here. */
  const attempt = Effect.fnUntraced(function* (message: store.Message) {
    const { location } = message
    const open = yield* patiently(store.openRun(message))
    if (open === undefined) return true
    if (open.paused && (open.state === "queued" || open.state === "waiting")) {
      yield* patiently(store.putBack(message))
      return true
    }
    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const since = yield* Clock.currentTimeMillis
        const claim = yield* restore(patiently(store.claim(location, owner)))
        if (claim === undefined) return false
        const { generation } = claim
        heldByLocation.set(location, { generation, since, child: undefined, session: undefined, isCancelled: false })
        return yield* Effect.onExit(restore(owned(claim, message)), (exit) =>
          Exit.isSuccess(exit) ? Effect.void : abandon(claim)
        )
      })
    )
  })

  const owned = Effect.fnUntraced(function* (claim: store.Claim, message: store.Message) {
    const { location } = claim
    const held = heldByLocation.get(location)!
    // The service still counts what a killed process has sent, and nobody knows how much that was.
    if (!claim.endedCleanly) yield* Effect.sleep(windowMs)
    // Another worker may have ended the run while this one waited for the location.
    const open = yield* patiently(store.openRun(message))
    if (open === undefined) return yield* free(claim, claim.endedCleanly, true)
    const isStopped = open.state === "cancelling" || held.isCancelled
    if (!isStopped) yield* patiently(store.begin(message, owner.name))
    const outcome = isStopped ? undefined : yield* synced(claim, held, open)
    const now = yield* Clock.currentTimeMillis
    // It was not certain any more that the location is this worker's: the run begins again, wherever that is.
    if (outcome?.isCutOff || (outcome?.exitCode === null && now - held.since > tetherMs - extendEveryMs))
      return yield* free(claim, false, false)
    const result = resultOf(outcome, held, open.failures, now)
    const isStored = yield* patiently(
      store.finish(message, claim, { ...result, isClean: outcome?.isClean ?? claim.endedCleanly })
    )
    heldByLocation.delete(location)
    yield* Effect.annotateLogs(Effect.logInfo(isStored ? "run ended" : "run lost to another worker"), {
      location,
      run: message.run,
      state: result.state,
      exit_code: outcome?.exitCode,
      requests: outcome?.requests
    })
    return true
  })

  const free = Effect.fnUntraced(function* (claim: store.Claim, isClean: boolean, isOver: boolean) {
    heldByLocation.delete(claim.location)
    yield* patiently(store.handBack(claim, isClean))
    return isOver
  })

  const synced = (claim: store.Claim, held: Held, open: store.OpenRun) => {
    const { folder, objects } = options
    const work = child(claim.location, held, open)
    const onSession = (session: Session) => {
      held.session = session
    }
    return objects === undefined ? work : inBucket(objects, claim, folderOf(folder, claim.location), onSession, work)
  }

  const child = (location: string, held: Held, { from, kind, to, token }: store.OpenRun) =>
    Effect.callback<Outcome>((resume) => {
      const order = { location, kind, from: from ?? undefined, to: to ?? undefined }
      const started = startChild(
        { ...order, state: options.folder, ...options.orderOf(location, token ?? undefined) },
        options.environment,
        held.since,
        (line) => options.onLine(location, line)
      )
      held.child = started
      void started.ended.then((outcome) => resume(Effect.succeed(outcome)))
    })

  /**
   * The cluster moves the location to another worker, or this one stops: the process saves its state first. A fiber that is
   * interrupted can have no time limits, so another one does this.
   */
  const abandon = (claim: store.Claim) =>
    Effect.gen(function* () {
      const { child: running, session } = heldByLocation.get(claim.location) ?? {}
      let isClean = claim.endedCleanly
      if (running !== undefined) {
        running.stop("SIGTERM")
        const ended = Effect.promise(() => running.ended)
        yield* Effect.timeoutOption(ended, stopMs)
        running.stop("SIGKILL")
        isClean = (yield* ended).isClean
        if (session !== undefined) yield* Effect.ignore(Effect.timeout(save(claim, session, session.saveAll), stopMs))
      }
      heldByLocation.delete(claim.location)
      yield* Effect.ignore(store.handBack(claim, isClean))
    }).pipe(Effect.interruptible, Effect.forkDetach, Effect.flatMap(Fiber.await))

  return { help, keepLeases, work }
}

const resultOf = (
  outcome: Outcome | undefined,
  held: Held,
  failures: number,
  now: number
): Omit<store.Result, "isClean"> => {
  const common = {
    exitCode: outcome?.exitCode ?? null,
    message: outcome?.message,
    requests: outcome?.requests,
    requestsLeft: outcome?.requestsLeft,
    notBefore: undefined,
    isFailure: false
  }
  if (outcome === undefined || held.isCancelled) return { ...common, state: "cancelled" }
  const next = nextOf({ exitCode: outcome.exitCode, resumeAt: outcome.resumeAt, failures, now })
  return next.state === "waiting" ? { ...common, ...next } : { ...common, state: next.state }
}
