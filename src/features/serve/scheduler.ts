/** Starts a sync at the times of the settings, and stores what the schedule has done, so that the next server goes on with it. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import { writeAtomically } from "../../output/files.ts"
import { type Job, type Work, storedIn } from "../../run/work.ts"
import { messageOf } from "../../values/thrown.ts"
import { NightState, type Times, beginning, dayOf, due, ended, nextMoments, resumed, started } from "./nights.ts"
import { reactionOf } from "../operations/schedule/outcomes.ts"

interface Options {
  /** The file of the state. */
  readonly path: string
  readonly work: Work
  /** Of the settings as they are now; undefined while they cannot be read. */
  readonly timesOf: () => (Times & { readonly prune: boolean }) | undefined
  /** Whether a place of alarms has refused something, and is due for another try. */
  readonly isRetryDue: () => Promise<boolean>
  readonly onChange: Effect.Effect<void>
  readonly onProblem: (message: string) => void
}

const tickMs = 5000
/** A check that could not even ask is not started more often. */
const retryMsMin = 300_000

export type Scheduler = Effect.Success<ReturnType<typeof startScheduler>>

/** Looks at the time until the scope ends: a run that ends later is not tonight's last one, and the next server goes on with it. */
export const startScheduler = Effect.fnUntraced(function* (options: Options) {
  const { isRetryDue, onChange, path, timesOf, work } = options
  const turns = Semaphore.makeUnsafe(1)
  const begun = yield* Clock.currentTimeMillis
  const state = yield* Ref.make((yield* storedIn(path, NightState)) ?? beginning(begun))
  let isClosing = false
  let lastTick = begun
  let lastRetry = begun
  /** Between two steps nothing else changes the state; and what fails, such as a full disk, ends no server. */
  const inTurn = (step: Effect.Effect<void, unknown>) =>
    Effect.catch(step, (cause) => Effect.sync(() => options.onProblem(messageOf(cause)))).pipe(
      turns.withPermit,
      Effect.uninterruptible
    )
  const change = Effect.fnUntraced(function* (next: NightState) {
    const before = yield* Ref.getAndSet(state, next)
    if (JSON.stringify(next) === JSON.stringify(before)) return
    yield* Effect.tryPromise({ try: () => writeAtomically(path, JSON.stringify(next)), catch: messageOf }).pipe(
      Effect.catch((problem) => Effect.sync(() => options.onProblem(problem)))
    )
    yield* onChange
  })
  const start = (task: keyof typeof tasks) =>
    work.start({ ...tasks[task], task, by: "schedule", isPrivate: false, isPlanOnly: false })

  const tick = Effect.gen(function* () {
    const now = (lastTick = yield* Clock.currentTimeMillis)
    const times = timesOf()
    if (times === undefined || isClosing) return
    if (now - lastRetry >= retryMsMin) {
      lastRetry = now
      if (yield* Effect.promise(() => isRetryDue().catch(() => false))) yield* startCheck
    }
    // A run that was started just before this server's predecessor was killed.
    const found = (yield* work.writing)?.record
    const before = yield* Ref.get(state)
    if (before.job === undefined && found?.by === "schedule" && found.task === "sync")
      yield* change(started(before, Math.max(before.handled, Date.parse(found.startedAt)), found.id))
    // A run whose end nobody has seen, because this process was not there.
    const { job: id } = yield* Ref.get(state)
    const job = id === undefined ? undefined : yield* Effect.option(work.get(id))
    if (job !== undefined && (Option.isNone(job) || job.value.record.endedAt !== undefined))
      yield* settle(Option.getOrUndefined(job))
    const next = due(yield* Ref.get(state), times, now, (yield* work.writing) !== undefined)
    yield* change(next.state)
    if (next.moment === undefined) return
    const { record } = yield* start("sync")
    yield* change(started(yield* Ref.get(state), next.moment, record.id))
  })

  /** It also sends each place again what that place has not accepted. If one is running, that is enough. */
  const startCheck = Effect.ignore(start("check"))

  const settle = Effect.fnUntraced(function* (job: Job | undefined) {
    const { exitCode = null } = job?.record ?? {}
    const { error, next } = job?.transcript.printed ?? {}
    const why = error?.message ?? `The sync ended with exit code ${exitCode}.`
    const now = yield* Clock.currentTimeMillis
    const text = next === undefined ? why : `${why} Next: ${next}`
    yield* change(ended(yield* Ref.get(state), exitCode, text, now, isClosing))
    const times = timesOf()
    if (isClosing || times === undefined) return
    const reaction = reactionOf(exitCode)
    if (reaction === "wait" || reaction === "stopped") return
    yield* startCheck
    const today = dayOf(times.timeZone, now)
    const settled = yield* Ref.get(state)
    if (!times.prune || reaction !== "done" || settled.prunedOn === today || (yield* work.writing)) return
    yield* change({ ...settled, prunedOn: today })
    yield* start("prune")
  })

  yield* inTurn(tick)
  yield* Effect.forkScoped(Effect.delay(Effect.repeat(inTurn(tick), Schedule.spaced(tickMs)), tickMs))
  yield* Effect.addFinalizer(() => Effect.sync(() => (isClosing = true)))
  return {
    /** A run has ended. A sync of a person that ended well shows that what stopped the schedule is mended. */
    onEnd: (job: Job) =>
      inTurn(
        Effect.flatMap(Ref.get(state), (now) => {
          const { exitCode, id, task } = job.record
          if (id === now.job) return settle(job)
          return task === "sync" && exitCode === 0 && now.halted ? change(resumed(now)) : Effect.void
        })
      ),
    resume: inTurn(
      Effect.andThen(
        Effect.flatMap(Ref.get(state), (now) => change(resumed(now))),
        tick
      )
    ),
    /** Why it starts no night. */
    illness: Effect.gen(function* () {
      const isAlive = Math.abs((yield* Clock.currentTimeMillis) - lastTick) < 6 * tickMs
      if (!isAlive) return "the schedule does not look at the time"
      return (yield* Ref.get(state)).halted === undefined ? undefined : "the schedule has stopped"
    }),
    /** `times`: of the settings that the caller has read. */
    shown: Effect.fnUntraced(function* (times: ReturnType<Options["timesOf"]>) {
      if (times === undefined) return undefined
      const { halted, job, retryAt } = yield* Ref.get(state)
      const now = yield* Clock.currentTimeMillis
      const isOn = times.times.length > 0 && !times.paused && halted === undefined
      return {
        times: times.times,
        timeZone: times.timeZone,
        paused: times.paused,
        next: isOn ? nextMoments(times, now, 3).map((moment) => new Date(moment).toISOString()) : [],
        ...(halted && { halted }),
        ...(job !== undefined && { job }),
        ...(isOn && retryAt !== undefined && { retryAt: new Date(retryAt).toISOString() })
      }
    })
  }
})

/** The work that it starts. */
const tasks = {
  sync: { title: "Sync", args: ["sync", "--wait=30m"], hasEvents: true, isWriting: true },
  check: { title: "Check the alarms", args: ["check"], hasEvents: false, isWriting: false },
  prune: { title: "Free disk space", args: ["prune", "--apply"], hasEvents: false, isWriting: true }
}
