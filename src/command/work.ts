/** A command, or a call of the library: its services, how it is stopped, and how its failure is explained. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import { CommandName } from "../output/lock.ts"
import { Environment } from "../values/environment.ts"
import { exitCodes } from "../values/failure.ts"
import { RunEvents } from "../values/run-event.ts"
import { explanationOf } from "../console/errors.ts"
import { logAborted, loggerOf } from "../console/log.ts"
import { Output } from "../console/streams.ts"
import { RunFeatures } from "./features.ts"
import { type CommandFailure, instant } from "../console/result.ts"

/** `name`: what other commands call it while it has the warehouse open. */
export const servicesOf = (
  name: string,
  environment: Environment["Service"],
  output: Output["Service"],
  features: RunFeatures["Service"]
) =>
  Context.make(Environment, environment).pipe(
    Context.add(Output, output),
    Context.add(RunEvents, output.event),
    Context.add(RunFeatures, features),
    Context.add(CommandName, name),
    Context.add(Logger.CurrentLoggers, new Set([loggerOf(output)]))
  )

/** Does work apart from the fiber of the caller, and from its services. Interrupted, it ends when the work has saved its progress. */
export const stoppable = <A, E>(
  work: Effect.Effect<A, E>,
  { display, say }: Output["Service"],
  isServing = false
): Effect.Effect<A, E> =>
  Effect.callback((resume) => {
    const fiber = Effect.runFork(work)
    fiber.addObserver(resume)
    return Effect.suspend(() => {
      display?.close()
      if (!isServing) say("Stopping; progress is saved. Press Ctrl-C again to quit now.", "warn")
      return Fiber.interrupt(fiber)
    })
  })

/** Says how work that was stopped goes on. */
export const explainStop = (output: Output["Service"], exitCode: number): CommandFailure => {
  const next = "run the same command again; it resumes from the last saved page."
  output.say(`Next: ${next}`, "warn")
  logAborted(output, exitCode)
  return { exitCode, code: "interrupted", message: "A signal stopped the command.", next }
}

/** Says what went wrong. */
export const explainFailure = (output: Output["Service"], cause: Cause.Cause<unknown>): CommandFailure => {
  const { redacted, say } = output
  const error = Cause.squash(cause)
  const explanation = explanationOf(error)
  if (explanation) {
    const { about, ends, message, next, resumeAt } = explanation
    say(`sluice: ${message}`, "error")
    if (about !== undefined) say(`About this message: docs/messages.md#${about}`, "error")
    say(`Next: ${next}`, "error")
    logAborted(output, exitCodes[ends])
    return {
      exitCode: exitCodes[ends],
      code: ends,
      message,
      next,
      ...(about !== undefined && { about }),
      ...(resumeAt !== undefined && { resumeAt: instant(resumeAt) })
    }
  }
  say(
    redacted(
      `sluice: Internal error; please report it. ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
    ),
    "error"
  )
  logAborted(output, exitCodes.failed)
  return { exitCode: exitCodes.failed, code: "internal", message: "Internal error; stderr has its details." }
}
