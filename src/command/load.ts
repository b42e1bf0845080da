/** Runs the handler of a command. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { unknownVariables } from "../settings/read.ts"
import { Environment } from "../values/environment.ts"
import { Output } from "../console/streams.ts"
import { type RunFlags, withRunFlags } from "./run-flags.ts"

/** What is to be said first of the flags and the settings file that were given. */
export const Warnings = Context.Reference<() => ReadonlyArray<string>>("sluice/command/Warnings", {
  defaultValue: () => () => []
})

/** Runs what a module has, with the warnings first: of old names, and of variables that have no meaning. */
export const load = <Module, A, E, R>(module: Promise<Module>, run: (module: Module) => Effect.Effect<A, E, R>) =>
  warnFirst.pipe(Effect.andThen(Effect.promise(() => module)), Effect.flatMap(run))

/** As `load`, for a command with a log: the warning is its first entry. */
export const loadRun = <Module, A, E, R>(
  command: string,
  flags: RunFlags,
  module: Promise<Module>,
  run: (module: Module) => Effect.Effect<A, E, R>
) => withRunFlags(command, flags, load(module, run))

const warnFirst = Effect.gen(function* () {
  const { say } = yield* Output
  for (const sentence of [...(yield* Warnings)(), ...unknownVariables(yield* Environment)]) say(sentence, "warn")
})
