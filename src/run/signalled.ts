/** Reports a run to the places that the settings name. Without any, nothing of it is loaded. */
import * as Effect from "effect/Effect"
import type { Catalogue } from "../catalog/discover.ts"
import type { AccountSettings } from "../settings/settings.ts"
import type { Reported } from "../features/operations/signals.ts"

/** What a run reports on. */
export interface Subject {
  readonly command: string
  readonly output: Reported
  readonly accounts: ReadonlyArray<AccountSettings>
  readonly catalogue: Catalogue
}

export const signalled =
  (subject: Subject) =>
  <A extends { readonly exitCode: number }, E, R>(work: Effect.Effect<A, E, R>) => {
    const { isOn, isObserved, lineage } = subject.output.signals
    return isOn || isObserved || lineage
      ? Effect.flatMap(
          Effect.promise(() => import("./reported.ts")),
          (_) => _.withReports(subject, work)
        )
      : work
  }
