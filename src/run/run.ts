/**
 * What surrounds the work of a command that changes the output folder. From the inside out: the report beside the release, the
 * record in the ledger, and the signals, which tell whether all of this succeeded.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Catalogue } from "../catalog/discover.ts"
import type { OutputSettings } from "../settings/settings.ts"
import type { Detail, Kind } from "../stores/ledger/record.ts"
import { explanationOf } from "./console/errors.ts"
import { Output } from "./console/output.ts"
import { RunFeatures } from "./features.ts"
import { recorded } from "./recorded.ts"
import type { Reported, Subject } from "./reports.ts"

export interface RunOptions<A> {
  readonly output: OutputSettings
  readonly catalogue: Catalogue
  /** What the ledger keeps of successful work. */
  readonly detailOf: (done: A) => Detail
}

/** Runs work that requests nothing from the service. */
export const run = <A, E, R>(
  kind: Kind,
  work: Effect.Effect<A, E, R>,
  { output, catalogue, detailOf }: RunOptions<A>
) => recorded(withReport(work, output, catalogue), output.folder, kind, detailOf)

/** Runs work that reads accounts: it also reports to the places that the settings name. Without any, nothing of it is loaded. */
export const runAccounts = <A extends { readonly exitCode: number }, E, R>(
  kind: "sync" | "backfill",
  work: Effect.Effect<A, E, R>,
  options: RunOptions<A> & { readonly output: Reported }
) => {
  const { catalogue, output } = options
  const { isOn, isObserved } = output.signals
  const surrounded = run(kind, work, options)
  if (!isOn && !isObserved) return surrounded
  const subject: Subject = { command: kind, output, catalogue }
  return Effect.flatMap(
    Effect.promise(() => import("./reports.ts")),
    (_) => _.withReports(subject, surrounded)
  )
}

/**
 * Writes the report into the current release after a command, also after one that failed. Without a release there is no
 * report. An error is a warning, because the tables are right without a report.
 */
const withReport = <A, E, R>(command: Effect.Effect<A, E, R>, output: OutputSettings, catalogue: Catalogue) =>
  Effect.onExit(command, (exit) =>
    Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)
      ? Effect.void
      : Effect.flatMap(RunFeatures, ({ writeReport }) => writeReport(output, catalogue)).pipe(
          // After a command that failed, its own error is the message that matters.
          Effect.catchCause((cause) => (Exit.isFailure(exit) ? Effect.void : warnOf(Cause.squash(cause))))
        )
  )

const warnOf = Effect.fnUntraced(function* (error: unknown) {
  const { redacted, say } = yield* Output
  say(redacted(`The report was not written: ${explanationOf(error)?.message ?? String(error)}`), "warn")
})
