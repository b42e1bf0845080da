/** Reports a run to the places that the settings name. Without any, nothing of it is loaded. */
import * as Effect from "effect/Effect"
import type { Subject } from "./reports.ts"

export const signalled =
  (subject: Subject) =>
  <A extends { readonly exitCode: number }, E, R>(work: Effect.Effect<A, E, R>) => {
    const { isOn, isObserved, lineage } = subject.output.signals
    return isOn || isObserved || lineage
      ? Effect.flatMap(
          Effect.promise(() => import("./reports.ts")),
          (_) => _.withReports(subject, work)
        )
      : work
  }
