/** What the page of the console requests, and who may. */
import type { CommandDescriptor } from "effect/cli/Completions"
import { existsSync, mkdirSync } from "node:fs"
import { type Body, HttpError } from "../explore/http.ts"
import type { Api, Call } from "../explore/web-server.ts"
import { outputPaths } from "../../output/paths.ts"
import type { Environment } from "../../values/environment.ts"
import type { Session } from "./access.ts"
import type { Ask } from "./ask.ts"
import type { Events } from "./events.ts"
import type { Jobs } from "./jobs.ts"
import { detailOf, summaryOf } from "./overview.ts"
import type { Printed } from "./progress.ts"
import { runOf, runsOf } from "./runs.ts"
import type { startScheduler } from "./scheduler.ts"
import { addLocation, checkSetup, writeSetup } from "./set-up.ts"
import { changeSettings, settingsOf } from "./settings-page.ts"
import { formsOf, orderOf } from "./tasks.ts"

interface Places {
  readonly ask: Ask
  readonly commands: CommandDescriptor
  readonly config: string
  readonly environment: Environment["Service"]
  readonly output: string
  readonly outputFlag: string | undefined
}

interface Parts {
  readonly events: Events
  readonly jobs: Jobs
  readonly scheduler: ReturnType<typeof startScheduler>
  readonly readStatus: () => Promise<void>
  readonly readIfOld: () => void
  readonly stateOf: (session: Session) => unknown
}

export const consoleApi = (
  places: Places,
  { events, jobs, readIfOld, readStatus, scheduler, stateOf }: Parts
): Api<Session> => {
  const { ask, commands, config, environment, output, outputFlag } = places
  const { exports } = outputPaths(output)
  /** A fleet has its folders from the settings. */
  const fleet = (...args: ReadonlyArray<string>) =>
    succeeded(ask.json(args, existsSync(config) ? ["--config", config] : []))
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
  return new Map<string, (call: Call<Session>) => Promise<unknown>>([
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
        readIfOld()
      }
    ],
    ["POST /api/job", async ({ body }) => jobOf(jobs.get(body["id"]))],
    [
      "POST /api/start",
      async (call) => {
        const order = orderOf(commands, owner(call), exports)
        if (order.document !== undefined) mkdirSync(exports, { recursive: true, mode: 0o700 })
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
    ["GET /api/tasks", async () => ({ tasks: formsOf(commands) })],
    ["GET /api/runs", async () => ({ runs: await runsOf(ask) })],
    ["POST /api/run", ({ body }) => runOf(ask, body["run"])],
    ["GET /api/settings", async () => settingsOf(page)],
    ["POST /api/settings", (call) => changed(changeSettings(page, owner(call)))],
    ["POST /api/setup/check", (call) => checkSetup(setUp, owner(call))],
    ["POST /api/setup", (call) => changed(writeSetup(setUp, owner(call)))],
    ["POST /api/locations", (call) => changed(addLocation(setUp, owner(call)))],
    ["POST /api/fleet", async () => (await fleet("fleet", "status", "--all")).data],
    [
      "POST /api/fleet/act",
      async (call) => {
        const { action, location } = owner(call)
        const command = fleetCommands.get(String(action))
        if (command === undefined || typeof location !== "string" || !/^[\w-]{1,100}$/.test(location))
          throw new HttpError(400, "request", "A fleet has run, pause, resume and retry, for one location.")
        return (await fleet(...command, `--location=${location}`)).data
      }
    ]
  ])
}

const jobOf = (job: Parameters<typeof detailOf>[0]) => ({ ...detailOf(job), log: job.transcript.log })

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
