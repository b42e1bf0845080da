/** Reports a run to the places that the settings name. Without any, nothing of it is loaded. */
import * as Effect from "effect/Effect"
import type { Reported } from "./signals.ts"

export const signalled =
  (output: Reported, command: string) =>
  <A extends { readonly exitCode: number }, E, R>(work: Effect.Effect<A, E, R>) =>
    output.signals.isOn
      ? Effect.flatMap(
          Effect.promise(() => import("./signals.ts")),
          (_) => _.withSignals(output, command, work)
        )
      : work
