/** Runs one command inside the calling process. Exit codes are listed in failure.ts. */
import * as NodeStdio from "@effect/platform-node-shared/NodeStdio"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Terminal from "effect/Terminal"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import { Console as NodeConsole } from "node:console"
import { exitCodes } from "../values/failure.ts"
import { allCommands, sluice } from "./commands.ts"
import type { Environment } from "../values/environment.ts"
import { Ended, commandAt, servesOf } from "../command/command.ts"
import { Warnings } from "../command/load.ts"
import { commandIn, valueOf, withGivenFlags } from "../console/given-flags.ts"
import { presenterOf, withHelpFlag } from "./help.ts"
import { withNewFlags } from "./old-flags.ts"
import { runFeatures } from "./run-features.ts"
import { Output, type Streams } from "../console/streams.ts"
import { type CommandFailure, printError } from "../console/result.ts"
import { explainFailure, explainStop, servicesOf, stoppable } from "../command/work.ts"
import { readFile } from "../settings/file.ts"
import { sluiceVersion } from "../values/version.ts"

export interface CommandOptions extends Streams {
  readonly environment: Environment["Service"]
  /** Aborted with the exit code of a signal, 130 or 143: the command saves its state and ends. */
  readonly signal?: AbortSignal
  /** References of Effect to override, such as its clock, or the transport of the API. */
  readonly overrides?: Context.Context<never>
}

/** What the parser needs to read a command line. It asks no questions; `init` has a terminal of its own. */
const parserServices = Layer.mergeAll(
  NodeStdio.layer,
  Path.layer,
  FileSystem.layerNoop({}),
  Layer.mock(Terminal.Terminal)({ "~effect/Terminal": "~effect/Terminal" }),
  Layer.mock(ChildProcessSpawner.ChildProcessSpawner)({})
)

/** Returns the exit code. Nothing is left of the command when it returns: no open file, no secret, no listener. */
export const runCommand = async (given: ReadonlyArray<string>, options: CommandOptions): Promise<number> => {
  const { environment, signal, stdout, stderr, overrides = Context.empty() } = options
  const typed = withHelpFlag(given)
  const { command: described, path } = commandIn(typed, allCommands())
  const { args, warnings } = withNewFlags(typed, path)
  const isServing = servesOf(commandAt(sluice, path))
  const output = Output.make(options, environment, {
    hasEvents: args.includes("--json=lines"),
    withFlags: withGivenFlags(args, allCommands)
  })
  const services = servicesOf(["sluice", ...path].join(" "), environment, output, runFeatures).pipe(
    Context.add(Console.Console, new NodeConsole(stdout, stderr)),
    Context.add(CliConfig.CliConfig, CliConfig.make({ builtIns })),
    Context.add(Warnings, () => [
      ...warnings,
      ...(described.flags.some(({ name }) => name === "config") ? readFile(valueOf("--config", args)).outdated : [])
    ]),
    Context.merge(overrides)
  )
  const command = Command.runWith(sluice, { version: sluiceVersion, renderErrors: true })(args).pipe(
    Effect.provide(Layer.mergeAll(parserServices, CliOutput.layerPresenter(presenterOf(output, typed[0] === "--all")))),
    Effect.provideContext(services)
  )
  const exit = await Effect.runPromiseExit(stoppable(command, output, isServing), signal && { signal })
  const fail = (failure: CommandFailure) => {
    if (args.some((arg) => arg === "--json" || arg.startsWith("--json="))) printError(output, failure)
    return failure.exitCode
  }
  // Ctrl-C is how a server ends; it has no work to resume.
  if (signal?.aborted) return isServing ? Number(signal.reason) : fail(explainStop(output, Number(signal.reason)))
  if (Exit.isSuccess(exit)) return 0
  const error = Cause.squash(exit.cause)
  if (error instanceof Ended) return error.exitCode
  if (!CliError.isCliError(error)) return fail(explainFailure(output, exit.cause))
  const messages = error._tag === "ShowHelp" ? error.errors.map(({ message }) => message) : [error.message]
  return messages.length === 0 ? 0 : fail({ exitCode: exitCodes.usage, code: "usage", message: messages.join("\n") })
}

/** The flags of Effect that all commands have. `-v` is another one, of the commands with a log. */
const version = GlobalFlag.Action({
  flag: Flag.Boolean("version").pipe(Flag.withDescription("Show version information"), Flag.withDefault(false)),
  run: GlobalFlag.Version.run
})
const builtIns = [GlobalFlag.Help, version, GlobalFlag.Completions]
