/** The console: what its parts do together, and what its page requests. */
import type { CommandDescriptor } from "effect/cli/Completions"
import { existsSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { outputPaths } from "../../output/paths.ts"
import { settingOf } from "../../settings/errors.ts"
import { readSettings } from "../../settings/read.ts"
import type { StatusData } from "../../run/status-text.ts"
import type { Environment } from "../../values/environment.ts"
import { sluiceVersion } from "../../values/version.ts"
import type { Session } from "./access.ts"
import { asking } from "./ask.ts"
import { consoleApi } from "./console-api.ts"
import { Events } from "./events.ts"
import { Jobs } from "./jobs.ts"
import { detailOf, headlineOf, summaryOf } from "./overview.ts"
import type { Printed } from "./progress.ts"
import { requestsTodayOf } from "./runs.ts"
import { startScheduler } from "./scheduler.ts"
import { takeFolder } from "./take-folder.ts"

export interface ConsoleOptions {
  /** The settings file, which may not exist yet. */
  readonly config: string
  readonly output: string
  /** The output folder as a flag names it. */
  readonly outputFlag: string | undefined
  /** How a command of sluice is started: the program, and what comes before its arguments. */
  readonly program: ReadonlyArray<string>
  /** The flags of the command line that name both. */
  readonly flags: () => ReadonlyArray<string>
  readonly environment: Environment["Service"]
  /** The entry of the program, of which the forms are made. */
  readonly commands: () => CommandDescriptor
  readonly onProblem: (message: string) => void
}

export type Console = ReturnType<typeof startConsole>

/** A browser that is open sees changes by other programs after this time at the latest. */
const freshMs = 60_000
const shownJobs = 20
/** Progress is sent this often. */
const sendMs = 1000

export const startConsole = ({
  commands,
  config,
  environment,
  flags,
  onProblem,
  output,
  outputFlag,
  program
}: ConsoleOptions) => {
  const folder = outputPaths(output).console
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const release = takeFolder(folder)
  const ask = asking(program, flags, environment)
  const events = new Events()
  let status: Printed | undefined
  let requestsToday: Awaited<ReturnType<typeof requestsTodayOf>> = []
  let statusAt = 0
  let [isReading, isStale] = [false, false]

  const settings = () => readSettings({ ...(existsSync(config) && { config }), output: outputFlag }, environment)

  /** What has changed while it was being read is read once more. */
  const readStatus = async (): Promise<void> => {
    isStale = true
    if (isReading) return
    isReading = true
    while (isStale) {
      isStale = false
      ;[status, requestsToday] = await Promise.all([
        ask.json(["status", "--all"]),
        requestsTodayOf(ask).catch(() => [])
      ])
      statusAt = Date.now()
      sendState()
    }
    isReading = false
  }

  const readIfOld = () => {
    if (Date.now() - statusAt > freshMs) void readStatus()
  }
  const timesOf = lastRightTimes()
  const dirty = new Set<string>()
  const jobs = new Jobs({
    folder,
    program,
    flags,
    environment,
    onChange: (job, lines) => {
      dirty.add(job.record.id)
      if (lines.length > 0) events.send("log", { id: job.record.id, lines })
    },
    onEnd: (job) => {
      scheduler.onEnd(job)
      void readStatus()
    }
  })
  const scheduler = startScheduler({
    path: join(folder, "schedule.json"),
    jobs,
    timesOf: () => timesOf(settings()),
    onChange: () => sendState(),
    onProblem
  })

  const stateOf = ({ role }: Session) => {
    const now = settings()
    const data = status?.data as StatusData | undefined
    return {
      version: sluiceVersion,
      role,
      needsSetup: needsSetup(now),
      settingsFile: config,
      output,
      command: environment["SLUICE_COMMAND"] ?? "./sluice",
      ...(status && { headline: headlineOf(data, Date.now()), statusAt: new Date(statusAt).toISOString() }),
      ...(data && { status: data }),
      ...(status?.error &&
        status.error.code !== "failed" && { statusProblem: { message: status.error.message, next: status.next } }),
      requestsToday,
      schedule: scheduler.shown(timesOf(now)),
      jobs: jobs.all().slice(0, shownJobs).map(summaryOf),
      fleet: isFleet(now),
      locations: locationsOf(now)
    }
  }

  /** The role differs by browser, and the page knows its own. */
  const sendState = () => {
    if (events.isWatched) events.send("state", stateOf({ id: "", role: "owner", lastSeen: 0 }))
  }
  const timer = setInterval(() => {
    const changed = [...dirty]
    dirty.clear()
    for (const id of changed) events.send("job", detailOf(jobs.get(id)))
    if (changed.length > 0) sendState()
    else if (events.isWatched) readIfOld()
  }, sendMs)
  void readStatus()

  const api = consoleApi(
    { ask, commands: commands(), config, environment, output, outputFlag },
    { events, jobs, readIfOld, readStatus, scheduler, stateOf }
  )
  return {
    api,
    isHealthy: () => scheduler.isAlive(),
    exports: outputPaths(output).exports,
    /** Running work gets the signal too, and saves what it has. */
    close: async () => {
      scheduler.beginClosing()
      clearInterval(timer)
      await jobs.close()
      events.close()
      release()
    }
  }
}

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
