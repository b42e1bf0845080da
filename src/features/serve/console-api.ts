/** What the page of the console requests, and who may. */
import type { CommandDescriptor } from "effect/cli/Completions"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { HttpError, type Routes, attempt, nothingHere, withBody } from "../../network/server.ts"
import { outputPaths } from "../../output/paths.ts"
import type { Work, WorkRefused } from "../../run/work.ts"
import type { Environment } from "../../values/environment.ts"
import type { Session } from "../../network/sessions.ts"
import type { Ask } from "./ask.ts"
import type { Events } from "./events.ts"
import { detailOf, isShownTo, summaryOf } from "./overview.ts"
import { runOf, runsOf } from "./runs.ts"
import { addLocation, checkSetup, replaceToken, writeSetup } from "./set-up.ts"
import { SettingsChange, changeSettings, settingsOf } from "./settings-page.ts"
import { Start, formsOf, orderOf } from "./tasks.ts"

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
  readonly work: Work
  readonly resume: Effect.Effect<void>
  readonly readStatus: Effect.Effect<unknown>
  readonly readIfOld: Effect.Effect<unknown>
  readonly stateOf: (session: Session) => Effect.Effect<object>
}

export const consoleRoutes = (
  places: Places,
  { events, readIfOld, readStatus, resume, stateOf, work }: Parts
): Routes<Session> => {
  const { ask, commands, config, environment, output, outputFlag } = places
  const { exports } = outputPaths(output)
  // Neither of them may be inside the other.
  const backups = join(dirname(resolve(output)), "backups")
  /** A fleet has its folders from the settings. */
  const fleet = (...args: ReadonlyArray<string>) =>
    attempt(async () => {
      const printed = await ask.json(args, existsSync(config) ? ["--config", config] : [])
      if (printed.error) throw new HttpError(409, printed.error.code, printed.error.message)
      return printed.data as object
    })
  const shownTo = ({ role }: Session) => Effect.map(work.all, (jobs) => jobs.filter((job) => isShownTo(role, job)))
  const setUp = { path: config, output, ask, environment }
  const page = { path: config, output: outputFlag, ask, environment }
  /** After a change of the file, also if the browser has gone away. */
  const changed = <A>(change: () => Promise<A>) => Effect.uninterruptible(Effect.tap(attempt(change), readStatus))
  return {
    "GET /api/events": {
      right: "reader",
      answer: Effect.fnUntraced(function* ({ who }) {
        const running = (yield* work.running).filter((job) => isShownTo(who.role, job))
        yield* readIfOld
        return yield* events.open(who, [
          ["state", yield* stateOf(who)],
          ...running.map((job) => ["job", detailOf(job)] as const),
          ...running.map((job) => ["log", { id: job.record.id, lines: job.transcript.log, isWhole: true }] as const)
        ])
      })
    },
    "POST /api/job": {
      right: "reader",
      answer: withBody(Named, ({ id }, { who }) =>
        Effect.flatMap(Effect.mapError(work.get(id), refusalOf), (job) =>
          isShownTo(who.role, job)
            ? Effect.succeed({ ...detailOf(job), log: job.transcript.log })
            : Effect.fail(nothingHere())
        )
      )
    },
    "POST /api/start": {
      answer: withBody(
        Start,
        Effect.fnUntraced(function* (body, { who }) {
          const order = yield* attempt(() => orderOf(commands, body, { exports, backups }))
          for (const folder of [exports, backups])
            if (order.args.some((arg) => dirname(arg) === folder))
              yield* attempt(() => mkdir(folder, { recursive: true, mode: 0o700 }))
          const started = work.start({ ...order, session: who.id.slice(0, 8) })
          return { job: summaryOf(yield* Effect.mapError(started, refusalOf)) }
        })
      )
    },
    "POST /api/stop": {
      answer: withBody(Named, ({ id }) => Effect.mapError(Effect.as(work.stop(id), {}), refusalOf))
    },
    "POST /api/schedule/resume": { answer: () => Effect.as(resume, {}) },
    "GET /api/tasks": { right: "reader", answer: () => attempt(() => ({ tasks: formsOf(commands) })) },
    "GET /api/runs": {
      right: "reader",
      answer: ({ who }) =>
        Effect.flatMap(shownTo(who), (jobs) => attempt(async () => ({ runs: await runsOf(ask, jobs) })))
    },
    "POST /api/run": {
      right: "reader",
      answer: withBody(OfRun, ({ run }, { who }) =>
        Effect.flatMap(shownTo(who), (jobs) => attempt(() => runOf(ask, jobs, run)))
      )
    },
    "GET /api/settings": { right: "reader", answer: () => attempt(() => settingsOf(page)) },
    "POST /api/settings": { answer: withBody(SettingsChange, (body) => changed(() => changeSettings(page, body))) },
    "POST /api/setup/check": { answer: ({ body }) => attempt(() => checkSetup(setUp, body)) },
    "POST /api/setup": { answer: ({ body }) => changed(() => writeSetup(setUp, body)) },
    "POST /api/locations": { answer: ({ body }) => changed(() => addLocation(setUp, body)) },
    "POST /api/token": { answer: ({ body }) => changed(() => replaceToken(setUp, body)) },
    "POST /api/fleet": { right: "reader", answer: () => fleet("fleet", "status", "--all") },
    "POST /api/fleet/act": {
      answer: withBody(OfLocation, ({ action, location }) => fleet("fleet", action, `--location=${location}`))
    }
  }
}

const refusalOf = ({ code, message }: WorkRefused) => new HttpError(code === "running" ? 409 : 404, code, message)

const Named = Schema.Struct({ id: Schema.String })
const OfRun = Schema.Struct({ run: Schema.String.check(Schema.isPattern(/^[0-9TZ]{10,40}$/)) })
const OfLocation = Schema.Struct({
  action: Schema.Literals(["enqueue", "pause", "resume"]),
  location: Schema.String.check(Schema.isPattern(/^[\w-]{1,100}$/))
})
