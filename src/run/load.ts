/** Runs the handler of a command. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { unknownVariables } from "../settings/read.ts"
import { Environment } from "../values/environment.ts"
import { Output } from "./console/output.ts"
import { type RunFlags, withRunFlags } from "./run-flags.ts"

/** How a command that did not do all its work ends; the command has written why. */
export class Ended extends Data.TaggedError("Ended")<{ readonly exitCode: number }> {}

export const load = <Module, E, R>(module: Promise<Module>, run: (module: Module) => Effect.Effect<number, E, R>) =>
  ended(loaded(module, run))

/** As `load`, for a command with a log: the warning is its first entry. */
export const loadRun = <Module, E, R>(
  command: string,
  flags: RunFlags,
  module: Promise<Module>,
  run: (module: Module) => Effect.Effect<number, E, R>
) => ended(withRunFlags(command, flags, loaded(module, run)))

/** Runs what a module has, with the warning of which variables have no meaning first. */
export const loaded = <Module, A, E, R>(module: Promise<Module>, run: (module: Module) => Effect.Effect<A, E, R>) =>
  warnOfUnknownVariables.pipe(Effect.andThen(Effect.promise(() => module)), Effect.flatMap(run))

/** The handlers of Effect's commands return nothing, so an exit code other than 0 leaves them as an error. */
const ended = <E, R>(command: Effect.Effect<number, E, R>) =>
  Effect.flatMap(command, (exitCode) => (exitCode === 0 ? Effect.void : Effect.fail(new Ended({ exitCode }))))

const warnOfUnknownVariables = Effect.gen(function* () {
  const { say } = yield* Output
  for (const sentence of unknownVariables(yield* Environment)) say(sentence, "warn")
})
