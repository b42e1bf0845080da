/** Runs one command inside the calling process. Exit codes are listed in failure.ts. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import { Console as NodeConsole } from "node:console"
import { exitCodes } from "../values/failure.ts"
import { allCommands, sluice } from "./commands.ts"
import { Environment } from "../values/environment.ts"
import { explanationOf } from "../run/console/errors.ts"
import { aboutOf, commandAt } from "../run/command.ts"
import { commandIn } from "../run/console/given-flags.ts"
import { presenterOf, withHelpFlag } from "./help.ts"
import { Ended } from "../run/load.ts"
import { logAborted, loggerOf } from "../run/console/log.ts"
import { RunEvents } from "../values/run-event.ts"
import { RunFeatures } from "../run/features.ts"
import { runFeatures } from "./run-features.ts"
import { Output, type Streams } from "../run/console/output.ts"
import { type ErrorCode, printError } from "../run/result.ts"
import { sluiceVersion } from "../values/version.ts"
import { CommandName } from "../output/lock.ts"

export interface CommandOptions extends Streams {
  readonly environment: Environment["Service"]
  /** Aborted with the exit code of a signal, 130 or 143: the command saves its state and ends. */
  readonly signal?: AbortSignal
  /** References of Effect to override, such as its clock, or the transport of the API. */
  readonly overrides?: Context.Context<never>
}

/** Returns the exit code. Nothing is left of the command when it returns: no open file, no secret, no listener. */
export const runCommand = async (given: ReadonlyArray<string>, options: CommandOptions): Promise<number> => {
  const args = withHelpFlag(given)
  const { environment, signal, stdout, stderr, overrides = Context.empty() } = options
  const { path } = commandIn(args, allCommands())
  const isServing = aboutOf(commandAt(sluice, path)).serves === true
  const output = Output.make(options, environment, args, allCommands)
  const services = Context.make(Environment, environment).pipe(
    Context.add(Output, output),
    Context.add(RunEvents, output.event),
    Context.add(RunFeatures, runFeatures),
    Context.add(CommandName, ["sluice", ...path].join(" ")),
    Context.add(Console.Console, new NodeConsole(stdout, stderr)),
    Context.add(Logger.CurrentLoggers, new Set([loggerOf(output)])),
    Context.add(CliConfig.CliConfig, CliConfig.make({ builtIns })),
    Context.merge(overrides)
  )
  const fiber = Effect.runFork(
    Command.runWith(sluice, { version: sluiceVersion, renderErrors: true })(args).pipe(
      Effect.provide(Layer.mergeAll(NodeServices.layer, CliOutput.layerPresenter(presenterOf(output)))),
      Effect.provideContext(services)
    )
  )
  const stop = () => {
    output.display?.close()
    if (!isServing) output.say("Stopping; progress is saved. Press Ctrl-C again to quit now.", "warn")
    Effect.runFork(Fiber.interrupt(fiber))
  }
  signal?.addEventListener("abort", stop, { once: true })
  const exit = await Effect.runPromise(Fiber.await(fiber))
  signal?.removeEventListener("abort", stop)
  if (signal?.aborted) {
    const exitCode = Number(signal.reason)
    // Ctrl-C is how a server ends; it has no work to resume.
    if (isServing) return exitCode
    const next = "run the same command again; it resumes from the last saved page."
    output.say(`Next: ${next}`, "warn")
    logAborted(output, exitCode)
    if (isJson(args))
      printError(output, { exitCode, code: "interrupted", message: "A signal stopped the command.", next })
    return exitCode
  }
  return Exit.isSuccess(exit) ? 0 : explain(exit.cause, output, isJson(args))
}

/** The flags of Effect that all commands have. Commands with a log have `--log-level` and `-v` of their own. */
const version = GlobalFlag.Action({
  flag: Flag.Boolean("version").pipe(Flag.withDescription("Show version information"), Flag.withDefault(false)),
  run: GlobalFlag.Version.run
})
const builtIns = [GlobalFlag.Help, version, GlobalFlag.Wizard, GlobalFlag.Completions]

const isJson = (args: ReadonlyArray<string>): boolean =>
  args.some((arg) => arg === "--json" || arg.startsWith("--json="))

/** Says what went wrong and returns the exit code. */
const explain = (cause: Cause.Cause<unknown>, output: Output["Service"], json: boolean): number => {
  const { redacted, say } = output
  const error = Cause.squash(cause)
  if (error instanceof Ended) return error.exitCode
  const fail = (exitCode: number, code: ErrorCode, message: string, next?: string) => {
    if (json) printError(output, { exitCode, code, message, ...(next !== undefined && { next }) })
    return exitCode
  }
  if (CliError.isCliError(error)) {
    const messages = error._tag === "ShowHelp" ? error.errors.map(({ message }) => message) : [error.message]
    return messages.length === 0 ? 0 : fail(exitCodes.usage, "usage", messages.join("\n"))
  }
  const explanation = explanationOf(error)
  if (explanation) {
    const { ends, message, next } = explanation
    say(`sluice: ${message}`, "error")
    say(`Next: ${next}`, "error")
    logAborted(output, exitCodes[ends])
    return fail(exitCodes[ends], ends, message, next)
  }
  say(
    redacted(
      `sluice: Internal error; please report it. ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
    ),
    "error"
  )
  logAborted(output, exitCodes.failed)
  return fail(exitCodes.failed, "internal", "Internal error; stderr has its details.")
}
