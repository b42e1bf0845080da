/** Runs the handler of a command. */
import * as Effect from "effect/Effect"
import { unknownVariables } from "../settings/read.ts"
import { Environment } from "../values/environment.ts"
import { Output } from "../console/streams.ts"
import { type RunFlags, withRunFlags } from "./run-flags.ts"

/** Runs what a module has, with the warning of which variables have no meaning first. */
export const load = <Module, A, E, R>(module: Promise<Module>, run: (module: Module) => Effect.Effect<A, E, R>) =>
  warnOfUnknownVariables.pipe(Effect.andThen(Effect.promise(() => module)), Effect.flatMap(run))

/** As `load`, for a command with a log: the warning is its first entry. */
export const loadRun = <Module, A, E, R>(
  command: string,
  flags: RunFlags,
  module: Promise<Module>,
  run: (module: Module) => Effect.Effect<A, E, R>
) => withRunFlags(command, flags, load(module, run))

const warnOfUnknownVariables = Effect.gen(function* () {
  const { say } = yield* Output
  for (const sentence of unknownVariables(yield* Environment)) say(sentence, "warn")
})
