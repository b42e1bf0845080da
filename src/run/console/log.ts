/** The log of a command: the logger that writes to its output, and the last entry. */
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { exitCodes } from "../../values/failure.ts"
import type { LogLevel } from "./log-format.ts"
import type { Output } from "./output.ts"

/** Writes everything that Effect logs to the output. */
export const loggerOf = ({ log }: Output["Service"]) =>
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
export const logAborted = ({ log }: Output["Service"], exitCode: number): void => {
  const status = exitCode > 128 ? "stopped" : exitCode === exitCodes.later ? "paused" : "failed"
  log({ time: new Date().toISOString(), level: "info", message: "run ended", fields: { status, exit_code: exitCode } })
}
