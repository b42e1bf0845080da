/** The console: what its parts do together, and what its page requests. */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type { CommandDescriptor } from "effect/cli/Completions"
import { existsSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { outputPaths } from "../../output/paths.ts"
import { settingOf } from "../../settings/errors.ts"
import { readSettings } from "../../settings/read.ts"
import { placesOf } from "../../settings/signals.ts"
import { readState } from "../../alarms/state.ts"
import { isRetryDue } from "../../alarms/notified.ts"
import type { Printed, Program } from "../../run/process.ts"
import type { StatusData } from "../../run/status-text.ts"
import { type Job, openWork } from "../../run/work.ts"
import type { Environment } from "../../values/environment.ts"
import { messageOf } from "../../values/thrown.ts"
import { sluiceVersion } from "../../values/version.ts"
import type { Session } from "../../network/sessions.ts"
import { asking } from "./ask.ts"
import { consoleRoutes } from "./console-api.ts"
import { openEvents } from "./events.ts"
import { detailOf, headlineOf, isShownTo, levelOf, shownStatus, summaryOf } from "./overview.ts"
import { requestsTodayOf } from "./runs.ts"
import { type Scheduler, startScheduler } from "./scheduler.ts"
import { takeFolder } from "./take-folder.ts"

export interface ConsoleOptions {
  /** The settings file, which may not exist yet. */
  readonly config: string
  readonly output: string
  /** The output folder as a flag names it. */
  readonly outputFlag: string | undefined
  readonly program: Program
  /** The flags of the command line that name both. */
  readonly flags: () => ReadonlyArray<string>
  readonly environment: Environment["Service"]
  /** The entry of the program, of which the forms are made. */
  readonly commands: () => CommandDescriptor
  readonly onProblem: (message: string) => void
}

export type Console = Effect.Success<ReturnType<typeof startConsole>>

/** A browser that is open sees changes by other programs after this time at the latest. */
const freshMs = 60_000
const shownJobs = 20
/** Progress is sent this often. */
const sendMs = 1000

/** Runs until the scope ends. Running work gets the signal then, and saves what it has. */
export const startConsole = Effect.fnUntraced(function* (options: ConsoleOptions) {
  const { commands, config, environment, flags, onProblem, output, outputFlag, program } = options
  const folder = outputPaths(output).console
  yield* Effect.promise(() => mkdir(folder, { recursive: true, mode: 0o700 }))
  yield* Effect.acquireRelease(
    Effect.tryPromise({ try: () => takeFolder(folder), catch: (cause) => new Error(messageOf(cause)) }),
    (release) => Effect.promise(release)
  )
  const ask = asking(program, flags, environment)
  const events = yield* openEvents
  let status: Printed | undefined
  let requestsToday: Awaited<ReturnType<typeof requestsTodayOf>> = []
  let statusAt = 0
  let isReading = false
  /** What has changed while it was being read is read once more. */
  const stale = yield* Queue.sliding<true>(1)
  const readStatus = Queue.offer(stale, true)
  const settings = () => readSettings({ ...(existsSync(config) && { config }), output: outputFlag }, environment)
  const timesOf = lastRightTimes()

  const beginning = yield* Deferred.make<Scheduler>()
  const work = yield* openWork({
    folder,
    program,
    flags,
    environment,
    onEnd: (job) =>
      Effect.andThen(
        Effect.flatMap(Deferred.await(beginning), (scheduler) => scheduler.onEnd(job)),
        readStatus
      ),
    onProblem
  })

  const stateOf = Effect.fnUntraced(function* ({ role }: Pick<Session, "role">) {
    const now = settings()
    const data = status?.data as StatusData | undefined
    const scheduler = yield* Deferred.await(beginning)
    const schedule = yield* scheduler.shown(timesOf(now))
    const headline = () => ({
      level: schedule?.halted ? "error" : levelOf(data),
      text: headlineOf(data, schedule, Date.now())
    })
    return {
      version: sluiceVersion,
      role,
      needsSetup: needsSetup(now),
      settingsFile: config,
      ...(now.values.account.baseUrl !== undefined && { baseUrl: now.values.account.baseUrl }),
      output,
      command: environment["SLUICE_COMMAND"] ?? "./sluice",
      ...(status && { headline: headline(), statusAt: new Date(statusAt).toISOString() }),
      ...(data && { status: shownStatus(data) }),
      ...(status?.error &&
        status.error.code !== "failed" && { statusProblem: { message: status.error.message, next: status.next } }),
      requestsToday,
      schedule,
      jobs: (yield* work.all)
        .filter((job) => isShownTo(role, job))
        .slice(0, shownJobs)
        .map(summaryOf),
      fleet: isFleet(now),
      locations: locationsOf(now)
    }
  })
  const sendState = Effect.suspend(() =>
    Effect.forEach(events.watching(), (role) =>
      Effect.map(stateOf({ role }), (state) => events.send("state", state, role))
    )
  )
  const readIfOld = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    !isReading && now - statusAt > freshMs ? readStatus : Effect.void
  )

  const dirty = new Set<string>()
  const changes = yield* PubSub.subscribe(work.changes)
  yield* PubSub.take(changes).pipe(
    Effect.tap(({ id, isPrivate, lines }) =>
      Effect.sync(() => {
        dirty.add(id)
        if (lines.length > 0) events.send("log", { id, lines }, isPrivate ? "owner" : undefined)
      })
    ),
    Effect.forever,
    Effect.forkScoped
  )
  yield* Queue.take(stale).pipe(
    Effect.andThen(
      Effect.promise(async () => {
        isReading = true
        ;[status, requestsToday] = await Promise.all([
          ask.json(["status", "--all"]),
          requestsTodayOf(ask).catch(() => [])
        ])
        isReading = false
      })
    ),
    Effect.andThen(Clock.currentTimeMillis),
    Effect.tap((now) => Effect.sync(() => (statusAt = now))),
    Effect.andThen(sendState),
    Effect.forever,
    Effect.forkScoped
  )
  yield* Effect.gen(function* () {
    const changed = [...dirty]
    dirty.clear()
    for (const id of changed)
      yield* Effect.ignore(
        Effect.map(work.get(id), (job: Job) =>
          events.send("job", detailOf(job), job.record.isPrivate ? "owner" : undefined)
        )
      )
    if (changed.length > 0) yield* sendState
    else if (events.watching().size > 0) yield* readIfOld
  }).pipe(Effect.repeat(Schedule.spaced(sendMs)), Effect.forkScoped)
  yield* readStatus

  return {
    /** Starts what is due, once browsers can see it. */
    begin: Effect.flatMap(
      startScheduler({
        path: join(folder, "schedule.json"),
        work,
        timesOf: () => timesOf(settings()),
        isRetryDue: async () => isRetryDue(await readState(output), placesOf(settings().values.signals), Date.now()),
        onChange: Effect.flatMap(Deferred.isDone(beginning), (is) => (is ? sendState : Effect.void)),
        onProblem
      }),
      (scheduler) => Deferred.succeed(beginning, scheduler)
    ),
    routes: consoleRoutes(
      { ask, commands: commands(), config, environment, output, outputFlag },
      {
        events,
        readIfOld,
        readStatus,
        resume: Effect.flatMap(Deferred.await(beginning), (one) => one.resume),
        stateOf,
        work
      }
    ),
    stateOf,
    /** Why not all is well, without a word about the account; undefined if it is. */
    illness: Effect.map(
      Effect.flatMap(Deferred.await(beginning), (one) => one.illness),
      (illness) => {
        const data = status?.data as StatusData | undefined
        const isWrong = levelOf(data) === "error"
        return illness ?? (isWrong ? "not all that is wanted is there, or there are alarms" : undefined)
      }
    ),
    exports: outputPaths(output).exports
  }
})

/**
 * The times of the settings. A mistake in the file ends no schedule: a sync starts at the times that were right, and says what
 * is wrong.
 */
const lastRightTimes = () => {
  let known: ReturnType<Parameters<typeof startScheduler>[0]["timesOf"]>
  return ({ problems, values }: ReturnType<typeof readSettings>) => {
    const isOfSchedule = (problem: (typeof problems)[number]) =>
      /^(InvalidToml|FileUnreadable)$/.test(problem.what._tag) || settingOf(problem).startsWith("schedule.")
    const { paused, prune, timeZone, times } = values.schedule
    if (!problems.some(isOfSchedule))
      known = { paused, prune, times, timeZone: timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone }
    return known
  }
}

type Read = ReturnType<typeof readSettings>
const isFleet = ({ values }: Read): boolean => values.fleet.database !== undefined
/** Those of the settings; the locations of a fleet are in its database. */
const locationsOf = ({ lists, values }: Read): ReadonlyArray<{ readonly id: string | undefined }> => {
  if (lists.locations.length > 0) return lists.locations.map(({ id }) => ({ id }))
  return values.account.locationId === undefined ? [] : [{ id: values.account.locationId }]
}
const needsSetup = (read: Read): boolean =>
  read.values.account.baseUrl === undefined || (locationsOf(read).length === 0 && !isFleet(read))
