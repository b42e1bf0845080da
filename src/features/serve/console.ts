/** The console: what its parts do together, and what its page requests. */
import type { CommandDescriptor } from "effect/cli/Completions"
import { existsSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { type Body, HttpError } from "../explore/http.ts"
import type { Api, Call } from "../explore/web-server.ts"
import { outputPaths } from "../../output/paths.ts"
import { settingOf } from "../../settings/errors.ts"
import { readSettings } from "../../settings/read.ts"
import type { StatusData } from "../../run/status-text.ts"
import type { Environment } from "../../values/environment.ts"
import { sluiceVersion } from "../../values/version.ts"
import type { Session } from "./access.ts"
import { asking } from "./ask.ts"
import { Events } from "./events.ts"
import { Jobs } from "./jobs.ts"
import { detailOf, headlineOf, summaryOf } from "./overview.ts"
import type { Printed } from "./progress.ts"
import { runOf, runsOf } from "./runs.ts"
import { startScheduler } from "./scheduler.ts"
import { addLocation, checkSetup, writeSetup } from "./set-up.ts"
import { changeSettings, settingsOf } from "./settings-page.ts"
import { takeFolder } from "./take-folder.ts"
import { formsOf, orderOf } from "./tasks.ts"

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
  let statusAt = 0
  let [isReading, isStale] = [false, false]

  const settings = () => readSettings({ ...(existsSync(config) && { config }), output: outputFlag }, environment)
  const root = commands()

  /** What has changed while it was being read is read once more. */
  const readStatus = async (): Promise<void> => {
    isStale = true
    if (isReading) return
    isReading = true
    while (isStale) {
      isStale = false
      status = await ask.json(["status", "--all"])
      statusAt = Date.now()
      sendState()
    }
    isReading = false
  }

  let known: ReturnType<Parameters<typeof startScheduler>[0]["timesOf"]>
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
    timesOf: () => {
      const { problems, values } = settings()
      const { paused, prune, timeZone, times } = values.schedule
      const isRight = problems.every(
        (problem) =>
          !/^(InvalidToml|FileUnreadable)$/.test(problem.what._tag) && !settingOf(problem).startsWith("schedule.")
      )
      // A mistake in the file ends no schedule: a sync starts at the times that were right, and says what is wrong.
      if (isRight) known = { paused, prune, times, timeZone: timeZone ?? timeZoneOfMachine() }
      return known
    },
    onChange: () => sendState(),
    onProblem
  })

  const stateOf = ({ role }: Session) => {
    const { lists, values } = settings()
    const data = status?.data as StatusData | undefined
    return {
      version: sluiceVersion,
      role,
      needsSetup: needsSetup(settings()),
      settingsFile: config,
      output,
      command: environment["SLUICE_COMMAND"] ?? "./sluice",
      ...(status && { headline: headlineOf(data, Date.now()), statusAt: new Date(statusAt).toISOString() }),
      ...(data && { status: data }),
      ...(status?.error &&
        status.error.code !== "failed" && { statusProblem: { message: status.error.message, next: status.next } }),
      schedule: scheduler.shown(),
      jobs: jobs.all().slice(0, shownJobs).map(summaryOf),
      fleet: values.fleet.database !== undefined,
      locations:
        lists.locations.length > 0 ? lists.locations.map(({ id }) => ({ id })) : [{ id: values.account.locationId }]
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
    else if (events.isWatched && Date.now() - statusAt > freshMs) void readStatus()
  }, sendMs)
  void readStatus()

  const owner = (call: Call<Session>): Body => {
    if (call.who.role !== "owner")
      throw new HttpError(403, "reader", "This password shows everything and starts nothing.")
    return call.body
  }
  const setUp = { path: config, output, ask, environment }
  const page = { path: config, output: outputFlag, ask, environment }
  /** After a change of the file. */
  const changed = async <A>(work: Promise<A>): Promise<A> => {
    const result = await work
    void readStatus()
    return result
  }
  const api: Api<Session> = new Map<string, (call: Call<Session>) => Promise<unknown>>([
    ["GET /api/console", async ({ who }) => stateOf(who)],
    [
      "GET /api/events",
      async ({ response, who }) => {
        const running = jobs.running()
        events.open(response, [
          ["state", stateOf(who)],
          ...running.map((job) => ["job", detailOf(job)] as const),
          ...running.map((job) => ["log", { id: job.record.id, lines: job.transcript.log, isWhole: true }] as const)
        ])
        if (Date.now() - statusAt > freshMs) void readStatus()
      }
    ],
    ["POST /api/job", async ({ body }) => jobOf(jobs.get(body["id"]))],
    [
      "POST /api/start",
      async (call) => {
        const order = orderOf(root, owner(call), outputPaths(output).exports)
        if (order.document !== undefined) mkdirSync(outputPaths(output).exports, { recursive: true, mode: 0o700 })
        return { job: summaryOf(jobs.start({ ...order, session: call.who.id.slice(0, 8) })) }
      }
    ],
    [
      "POST /api/stop",
      async (call) => {
        jobs.stop(owner(call)["id"])
        return {}
      }
    ],
    [
      "POST /api/schedule/resume",
      async (call) => {
        owner(call)
        scheduler.resume()
        return {}
      }
    ],
    ["GET /api/tasks", async () => ({ tasks: formsOf(root) })],
    ["GET /api/runs", async () => ({ runs: await runsOf(ask) })],
    ["POST /api/run", ({ body }) => runOf(ask, body["run"])],
    ["GET /api/settings", async () => settingsOf(page)],
    ["POST /api/settings", (call) => changed(changeSettings(page, owner(call)))],
    ["POST /api/setup/check", (call) => checkSetup(setUp, owner(call))],
    ["POST /api/setup", (call) => changed(writeSetup(setUp, owner(call)))],
    ["POST /api/locations", (call) => changed(addLocation(setUp, owner(call)))],
    ["POST /api/fleet", async () => (await succeeded(ask.json(["fleet", "status"]))).data],
    [
      "POST /api/fleet/act",
      async (call) => {
        const { action, location } = owner(call)
        const command = fleetCommands.get(String(action))
        if (command === undefined || typeof location !== "string" || !/^[\w-]{1,100}$/.test(location))
          throw new HttpError(400, "request", "A fleet has run, pause, resume and retry, for one location.")
        return (await succeeded(ask.json([...command, `--location=${location}`]))).data
      }
    ]
  ])

  return {
    api,
    /** Whether no settings exist and none are in the environment. */
    isEmpty: () => needsSetup(settings()),
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

const timeZoneOfMachine = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

const jobOf = (job: Parameters<typeof detailOf>[0]) => ({ ...detailOf(job), log: job.transcript.log })

const needsSetup = ({ lists, values }: ReturnType<typeof readSettings>): boolean =>
  values.account.baseUrl === undefined || (values.account.locationId === undefined && lists.locations.length === 0)

const fleetCommands: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["run", ["fleet", "enqueue"]],
  ["retry", ["fleet", "enqueue"]],
  ["pause", ["fleet", "pause"]],
  ["resume", ["fleet", "resume"]]
])

const succeeded = async (answer: Promise<Printed>): Promise<Printed> => {
  const printed = await answer
  if (printed.error) throw new HttpError(409, printed.error.code, printed.error.message)
  return printed
}
