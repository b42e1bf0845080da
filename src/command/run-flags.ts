/** The flags of all commands that write to the output folder: what they log, how long they wait, and when they stop. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import { RunWait } from "../output/lock.ts"
import { durationMs } from "../values/text.ts"
import { usageError } from "../console/errors.ts"
import type { LogFormat, LogLevel } from "../console/log.ts"
import { Output } from "../console/streams.ts"

export interface RunFlags {
  readonly logFormat?: LogFormat | undefined
  readonly logLevel?: LogLevel | undefined
  readonly quiet?: boolean
  readonly verbose?: boolean
  /** Milliseconds. */
  readonly wait?: number | undefined
}

/**
 * Runs a command with the log and the wait that its flags choose. On a terminal, a person watches the display, and a log
 * is written only if a flag requests it; elsewhere the log is the only trace of the run.
 */
export const withRunFlags = <A, E, R>(command: string, flags: RunFlags, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { configureLogs, isTerminal } = yield* Output
    const levels = [flags.logLevel, flags.quiet && ("warn" as const), flags.verbose && ("debug" as const)].filter(
      (one) => one !== undefined && one !== false
    )
    if (levels.length > 1) return yield* refuse("--quiet and --verbose exclude each other.", command)
    const isRequested = flags.logFormat !== undefined || levels.length > 0
    const [level = "info"] = levels
    configureLogs({
      format: flags.logFormat ?? (isTerminal ? "pretty" : "logfmt"),
      level,
      logLevel: isTerminal && !isRequested ? "warn" : level
    })
    return yield* Effect.logInfo("run started").pipe(
      Effect.annotateLogs({ command }),
      Effect.andThen(work),
      Effect.provideService(References.MinimumLogLevel, level === "debug" ? "Debug" : "Info"),
      Effect.provideService(RunWait, flags.wait ?? 0)
    )
  })

/**
 * The time of `--deadline 5h`, or of `--deadline 06:00`: the next 06:00 in the time zone of the machine, as for `cron` and
 * `at`. Epoch milliseconds.
 */
export const deadlineOf = Effect.fnUntraced(function* (text: string | undefined, command: string) {
  if (text === undefined) return undefined
  const now = yield* Clock.currentTimeMillis
  const ms = durationMs(text)
  const deadline = ms === undefined ? nextTimeOfDay(text, now) : now + ms
  return (
    deadline ?? (yield* refuse(`--deadline ${text}: not a duration such as 5h, and not a time such as 06:00.`, command))
  )
})

const refuse = (message: string, command: string) => Effect.fail(usageError(message, `./sluice ${command} --help`))

const nextTimeOfDay = (text: string, now: number): number | undefined => {
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  if (hours === undefined) return undefined
  const time = new Date(now)
  time.setHours(Number(hours), Number(minutes), 0, 0)
  if (time.getTime() <= now) time.setDate(time.getDate() + 1)
  return time.getTime()
}
