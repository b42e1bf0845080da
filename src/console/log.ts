/** The log of a command: the formats of its lines, the logger that writes to its output, and the last entry. */
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { exitCodes } from "../values/failure.ts"

/** The formats of a log line: for people, and for programs that collect logs. */
export const logFormats = ["pretty", "json", "logfmt"] as const
export type LogFormat = (typeof logFormats)[number]

/** The most severe first. */
export const logLevels = ["error", "warn", "info", "debug"] as const
export type LogLevel = (typeof logLevels)[number]

export const isAtLeast = (level: LogLevel, threshold: LogLevel): boolean =>
  logLevels.indexOf(level) <= logLevels.indexOf(threshold)

export interface LogEntry {
  /** ISO 8601, in UTC. */
  readonly time: string
  readonly level: LogLevel
  readonly message: string
  /** `run`, `location` and `resource`, and the numbers that the message is about; without those that are undefined. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** The output of a command. */
interface LogTarget {
  readonly log: (entry: LogEntry) => void
}

/** One line without its end. */
export const formatEntry = (format: LogFormat, { time, level, message, fields }: LogEntry): string => {
  const { run, location, resource, ...others } = fields
  const context = { ...(run !== undefined && { run }), ...(location !== undefined && { location }) }
  const subject = resource === undefined ? {} : { resource }
  switch (format) {
    case "json":
      return JSON.stringify({ time, level, ...context, ...subject, message, ...others })
    case "logfmt":
      return pairs({ time, level, ...context, ...subject, message, ...others })
    case "pretty":
      return [`${time} ${level.toUpperCase().padEnd(5)} ${message}`, pairs({ ...subject, ...others })]
        .join(" ")
        .trimEnd()
  }
}

const pairs = (fields: Readonly<Record<string, unknown>>): string =>
  Object.entries(fields)
    .map(([key, value]) => `${key}=${quoted(typeof value === "string" ? value : (JSON.stringify(value) ?? ""))}`)
    .join(" ")

/** A value with a blank, a quote, a backslash or an equals sign is written as in JSON. */
const quoted = (value: string): string => (/^[^\s"=\\]+$/.test(value) ? value : JSON.stringify(value))

/** Writes everything that Effect logs to the output. */
export const loggerOf = ({ log }: LogTarget) =>
  Logger.map(Logger.formatStructured, ({ timestamp, level, message, annotations, cause }) =>
    log({
      time: timestamp,
      level: levels[level] ?? "info",
      message: String(message),
      fields: { ...annotations, cause }
    })
  )

const levels: Readonly<Record<string, LogLevel>> = {
  FATAL: "error",
  ERROR: "error",
  WARN: "warn",
  DEBUG: "debug",
  TRACE: "debug"
}

/** The last entry of the log of a command that did its work. */
export const logEnd = (exitCode: number, fields: Readonly<Record<string, unknown>>) =>
  Effect.annotateLogs(Effect.logInfo("run ended"), { ...fields, exit_code: exitCode })

/** The last entry of the log of a command that failed or was stopped. */
export const logAborted = ({ log }: LogTarget, exitCode: number): void => {
  const status = exitCode > 128 ? "stopped" : exitCode === exitCodes.later ? "paused" : "failed"
  log({ time: new Date().toISOString(), level: "info", message: "run ended", fields: { status, exit_code: exitCode } })
}
