/** Runs one command to its end: exit code, signals, errors in words. Exit codes are listed in failure.ts. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import { exitCodes } from "../failure.ts"
import { sluice } from "./commands.ts"
import { explanationOf } from "./errors.ts"
import { presenter } from "./help.ts"
import { redacted, say } from "./output.ts"

export const run = async (args: ReadonlyArray<string>): Promise<void> => {
  if (args[0] === "sandbox") {
    // A program of its own, with flags of its own.
    const { runSandbox } = await import("../sandbox/main.ts")
    process.exitCode = await runSandbox(args.slice(1))
    return
  }
  // A reader that has seen enough, as in `| head`, is no failure of what was done.
  let unwritten: NodeJS.ErrnoException | undefined
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EPIPE") unwritten = cause
    })
  const fiber = Effect.runFork(
    Command.runWith(sluice, { version: "0.1.0", renderErrors: true })(args).pipe(
      Effect.provide(Layer.mergeAll(NodeServices.layer, CliOutput.layerPresenter(presenter)))
    )
  )
  let signalled: number | undefined
  const stop = (code: number) => () => {
    if (signalled !== undefined) process.exit(code)
    signalled = code
    say("Stopping: what was read is kept. Once more to stop at once.")
    Effect.runFork(Fiber.interrupt(fiber))
  }
  process.on("SIGINT", stop(130))
  process.on("SIGTERM", stop(143))

  const exit = await Effect.runPromise(Fiber.await(fiber))
  if (signalled !== undefined) {
    say("Next: run the same command again; a reading goes on from the last page kept.")
    process.exit(signalled)
  }
  // A number that a command left is its own status.
  const code = Exit.isSuccess(exit) ? (process.exitCode ?? 0) : explain(exit.cause)
  // To a pipe a long result is still being written.
  for (const stream of [process.stdout, process.stderr]) await new Promise((written) => stream.write("", written))
  // A command that failed has told why.
  if (!unwritten || code !== 0) process.exit(code)
  say(`sluice: The result could not be printed: ${unwritten.message}`)
  process.exit(exitCodes.failed)
}

/** Says what went wrong and returns the exit code. */
const explain = (cause: Cause.Cause<unknown>): number => {
  const error = Cause.squash(cause)
  if (CliError.isCliError(error)) return error._tag === "ShowHelp" && error.errors.length === 0 ? 0 : exitCodes.usage
  const explanation = explanationOf(error)
  if (explanation) {
    say(`sluice: ${explanation.message}`)
    say(`Next: ${explanation.next}`)
    return exitCodes[explanation.ends]
  }
  say(
    redacted(
      `sluice: a defect, which is ours to mend. ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
    )
  )
  return exitCodes.failed
}
