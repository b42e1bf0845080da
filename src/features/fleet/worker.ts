/** What a worker does: claims a location whose run waits, runs its sync in a process, and stores how it ended. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import { type Database, patiently } from "./database.ts"
import { type Child, type Order, type Outcome, folderOf, startChild } from "./child.ts"
import { nextOf } from "./retry.ts"
import { inBucket, save } from "./saving.ts"
import type { Objects } from "./state/objects.ts"
import type { Session } from "./state/session.ts"
import * as store from "./store.ts"
import { tetherMs } from "./tether.ts"

export interface WorkerOptions {
  readonly owner: store.Owner
  /** Locations that run side by side. */
  readonly parallel: number
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
  readonly claim: store.Claim
  /** When this was last certain, epoch milliseconds. */
  since: number
  child: Child | undefined
  session: Session | undefined
  isCancelled: boolean
}

const extendEveryMs = 1000
const stopMs = 8000
/** How often a worker without work looks for some, beside each time that it is woken. */
const lookEveryMs = 1000
/** A defect is not the last thing that a worker does, nor does it repeat at once. */
const afterDefectMs = 10_000

export const makeWorker = (options: WorkerOptions) => {
  const { owner, parallel, windowMs } = options
  /** One location is here twice if this worker lost it and has claimed it again before it stored how the first run ended. */
  const owns = new Set<Held>()
  const looking = Semaphore.makeUnsafe(1)
  const woken = Latch.makeUnsafe()

  /** Extends the leases, and with each the life of its process. Ends the processes of what was lost or is cancelled. */
  const keepLeases = Effect.gen(function* () {
    const since = yield* Clock.currentTimeMillis
    const watched = [...owns]
    if (watched.length > 0) {
      const rows = yield* store.extend(
        owner,
        watched.map(({ claim }) => claim.location)
      )
      const kept = new Map(rows.map((row) => [row.location, row]))
      for (const held of watched) {
        const row = kept.get(held.claim.location)
        if (row?.generation !== held.claim.generation) {
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
    Effect.repeat(Schedule.spaced(extendEveryMs))
  )

  const claimed = Effect.gen(function* () {
    const since = yield* Clock.currentTimeMillis
    const claim = yield* store.claim(owner)
    return claim && { claim, since, child: undefined, session: undefined, isCancelled: false }
  })

  /** One place looks for a run, and the others wait until it has one. */
  const next: Effect.Effect<Held, never, Database> = looking.withPermit(
    Effect.gen(function* () {
      for (;;) {
        yield* woken.close
        const held = yield* patiently(claimed)
        if (held !== undefined) return held
        yield* Effect.timeoutOption(woken.await, lookEveryMs)
      }
    })
  )

  /** Runs one location after the other. */
  const place = Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const held = yield* restore(next)
      owns.add(held)
      yield* Effect.onExit(restore(owned(held)), (exit) => (Exit.isSuccess(exit) ? Effect.void : abandon(held)))
    })
  ).pipe(
    Effect.forever,
    Effect.catchDefect((defect) =>
      Effect.annotateLogs(Effect.logError("a run could not be begun"), { detail: String(defect) })
    ),
    Effect.repeat(Schedule.spaced(afterDefectMs))
  )

  /** The leases are extended until the last process has ended. */
  const work = Effect.gen(function* () {
    yield* Effect.forkScoped(keepLeases)
    yield* Effect.all(Effect.replicate(place, parallel), { concurrency: "unbounded", discard: true })
    return yield* Effect.never
  }).pipe(Effect.scoped)

  const owned = Effect.fnUntraced(function* (held: Held) {
    const { claim } = held
    const { endedCleanly, location, run } = claim
    // The service still counts what a killed process has sent, and nobody knows how much that was.
    if (!endedCleanly) yield* Effect.sleep(windowMs)
    const isBegun = yield* patiently(store.begin(claim, owner.name))
    const outcome = isBegun ? yield* synced(held) : undefined
    const now = yield* Clock.currentTimeMillis
    // It was not certain any more that the location is this worker's: the run begins again, wherever that is.
    if (outcome?.isCutOff || (outcome?.exitCode === null && now - held.since > tetherMs - extendEveryMs))
      return yield* free(held, false)
    const result = resultOf(outcome, held, now)
    const isStored = yield* patiently(store.finish(claim, { ...result, isClean: outcome?.isClean ?? endedCleanly }))
    owns.delete(held)
    yield* Effect.annotateLogs(Effect.logInfo(isStored ? "run ended" : "run lost to another worker"), {
      location,
      run,
      state: result.state,
      exit_code: outcome?.exitCode,
      requests: outcome?.requests
    })
  })

  const free = (held: Held, isClean: boolean) => {
    owns.delete(held)
    return patiently(store.handBack(held.claim, isClean))
  }

  const synced = (held: Held) => {
    const { folder, objects } = options
    const work = child(held)
    const onSession = (session: Session) => {
      held.session = session
    }
    const { claim } = held
    return objects === undefined ? work : inBucket(objects, claim, folderOf(folder, claim.location), onSession, work)
  }

  const child = (held: Held) =>
    Effect.callback<Outcome>((resume) => {
      const { from, kind, location, to, token } = held.claim
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
   * This worker stops: the process saves its state first. A fiber that is interrupted can have no time limits, so another one
   * does this.
   */
  const abandon = (held: Held) =>
    Effect.gen(function* () {
      const { claim, child: running, session } = held
      let isClean = claim.endedCleanly
      if (running !== undefined) {
        running.stop("SIGTERM")
        const ended = Effect.promise(() => running.ended)
        yield* Effect.timeoutOption(ended, stopMs)
        running.stop("SIGKILL")
        isClean = (yield* ended).isClean
        if (session !== undefined) yield* Effect.ignore(Effect.timeout(save(claim, session, session.saveAll), stopMs))
      }
      owns.delete(held)
      yield* Effect.ignore(store.handBack(claim, isClean))
    }).pipe(Effect.interruptible, Effect.forkDetach, Effect.flatMap(Fiber.await))

  return { work, wake: woken.open }
}

const resultOf = (
  outcome: Outcome | undefined,
  { claim: { failures }, isCancelled }: Held,
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
  if (outcome === undefined || isCancelled) return { ...common, state: "cancelled" }
  const next = nextOf({ exitCode: outcome.exitCode, resumeAt: outcome.resumeAt, failures, now })
  return next.state === "waiting" ? { ...common, ...next } : { ...common, state: next.state }
}
