/** `sluice listen`: receives events of the service, and reads what they say has changed. */
import { Clock, Duration, Effect, Redacted, Result, Schedule } from "effect"
import { exitCodes } from "../../values/failure.ts"
import { onDisk } from "../../output/files.ts"
import { Due, wordsByTable } from "./due.ts"
import { startListener } from "./server.ts"
import { SettingsError } from "../../settings/errors.ts"
import type { Flags } from "../../settings/read.ts"
import { secretReader } from "../../settings/secrets.ts"
import { syncSettings } from "../../settings/settings.ts"
import { messageOf } from "../../values/thrown.ts"
import { counted } from "../../values/finding.ts"
import { loadCatalogue } from "../../command/catalogue.ts"
import type { Listening } from "../../command/flags.ts"
import { refuseDemoFolder } from "../../command/demo-folder.ts"
import { Environment } from "../../values/environment.ts"
import { configError, explanationOf, failedError, usageError } from "../../console/errors.ts"
import { Output } from "../../console/streams.ts"
import { printResult } from "../../console/result.ts"
import { syncOnce } from "../../run/sync.ts"
import { outputPaths } from "../../output/paths.ts"

export interface ListenFlags extends Flags {
  readonly listen: Listening
  /** Milliseconds. */
  readonly every: number | undefined
  readonly json: boolean
}

/** Runs until it is interrupted. */
export const listen = Effect.fn("command.listen")(function* (flags: ListenFlags) {
  const { keepSecret, print, say } = yield* Output
  const environment = yield* Environment
  const { accounts, output } = yield* syncSettings(flags, environment)
  yield* refuseDemoFolder(
    output.folder,
    accounts.map(({ api }) => api.baseUrl),
    (other) => `./sluice listen --output ${other}`
  )
  const secret = yield* secretOf(output.listenSecret, environment)
  keepSecret(secret)
  const everyMs = flags.every ?? 30_000
  if (everyMs < 1000) return yield* usageError("--every is a second or more.", "./sluice listen --every 30s")
  const { resources } = yield* loadCatalogue(output)
  const words = wordsByTable(resources)
  const tables = new Set(words.keys())
  const path = outputPaths(output.folder).eventsDue
  const now = yield* Clock.currentTimeMillis
  const due = yield* onDisk(path, "read", () => Due.open(path, tables, now))
  if (due.problem !== undefined) say(`${due.problem}.`, "warn")
  const { host = "127.0.0.1", port = 0 } = { ...flags.listen }
  const locations = new Set(accounts.map((one) => one.location))
  const listener = yield* Effect.mapError(
    startListener({ host, port, secret, tables: words, due, locations }),
    ({ cause }) =>
      failedError(`${host}:${port} cannot be used: ${messageOf(cause)}.`, "Name another address with --listen.")
  )
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${listener.port}/`
  if (flags.json) yield* printResult("listen", { exitCode: 0, data: { url, port: listener.port, tables: [...tables] } })
  else print(url)
  say(
    `Events for ${[...tables].join(", ")} are read within ${Duration.toSeconds(everyMs)} s; the others wait for a sync.`
  )
  const logCounts = Effect.suspend(() => {
    const { accepted, others, repeated } = due.counts
    return Effect.annotateLogs(Effect.logDebug("events"), {
      accepted,
      repeated,
      others,
      refused: listener.refused.count
    })
  })
  return yield* readDue(due, path, flags).pipe(
    Effect.tap(logCounts),
    Effect.repeat({ until: Boolean, schedule: lessAndLessOften(everyMs) }),
    Effect.delay(everyMs),
    Effect.forever
  )
}, Effect.scoped)

/** How a failure that lasts is tried again. */
const lessAndLessOften = (everyMs: number) =>
  Schedule.min([Schedule.exponential(Math.max(2 * everyMs, 10_000)), Schedule.spaced("1 hour")])

/** Whether nothing is due any more, apart from what arrived meanwhile. */
const readDue = Effect.fnUntraced(function* (due: Due, path: string, flags: ListenFlags) {
  const { say } = yield* Output
  if (due.size === 0) return true
  const taken = due.take()
  const only = [...taken.keys()]
  const settle = (isRead: boolean) => onDisk(path, "written", () => due.settle(isRead))
  const startedAt = yield* Clock.currentTimeMillis
  return yield* syncOnce({ ...flags, only: only.join(",") }).pipe(
    Effect.tap(({ exitCode, data: { requests, resources } }) => {
      const seconds = Math.round((startedAt - Math.min(...taken.values())) / 1000)
      const changed = resources.reduce((sum, row) => sum + row.newRows + row.changedRows, 0)
      say(
        `${only.join(", ")}: ${counted(changed, "changed row")}, ${counted(requests, "request")}, ${seconds} s after the event.`
      )
      return settle(exitCode === 0)
    }),
    Effect.map(({ exitCode }) => exitCode === 0),
    Effect.onInterrupt(() => Effect.ignore(settle(false))),
    Effect.catch((error) => {
      const explanation = explanationOf(error)
      if (explanation === undefined || exitCodes[explanation.ends] === exitCodes.config)
        return Effect.andThen(settle(false), Effect.fail(error))
      say(`${only.join(", ")} could not be read, and will be tried again: ${explanation.message}`, "warn")
      return Effect.as(settle(false), false)
    })
  )
})

const secretOf = Effect.fnUntraced(function* (reference: string | undefined, environment: Environment["Service"]) {
  if (reference === undefined)
    return yield* configError(
      "listen.secret is missing: events without a secret could come from anybody.",
      "Set listen.secret or SLUICE_LISTEN_SECRET to a reference such as env:LISTEN_SECRET; `openssl rand -hex 32` makes one."
    )
  const secret = secretReader(environment)(reference, "listen.secret")
  if (Result.isFailure(secret)) return yield* new SettingsError({ problems: [secret.failure] })
  const value = Redacted.value(secret.success)
  if (value.length < secretLengthMin)
    return yield* configError(
      `listen.secret has ${counted(value.length, "character")}: whoever reaches the address could guess it. It needs ${secretLengthMin} or more.`,
      "Set a longer one; `openssl rand -hex 32` makes one."
    )
  return value
})

const secretLengthMin = 16
