/** Keeps the report beside the tables up to date. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Catalogue } from "../catalog/discover.ts"
import type { OutputSettings } from "../settings/settings.ts"
import { explanationOf } from "./console/errors.ts"
import { Output } from "./console/output.ts"
import { RunFeatures } from "./features.ts"

/**
 * Writes the report into the current release after a command, also after one that failed. Without a release there is no
 * report. An error is a warning, because the tables are right without a report.
 */
export const withReport =
  (output: OutputSettings, catalogue: Catalogue) =>
  <A, E, R>(command: Effect.Effect<A, E, R>) =>
    Effect.onExit(command, (exit) =>
      Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)
        ? Effect.void
        : Effect.flatMap(RunFeatures, ({ writeReport }) => writeReport(output, catalogue)).pipe(
            Effect.catchCause((cause) => warnOf(cause, Exit.isFailure(exit)))
          )
    )

/** After a command that failed, its own error is the message that matters. */
const warnOf = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>, hasFailed: boolean) {
  const { redacted, say } = yield* Output
  const error = Cause.squash(cause)
  if (hasFailed) return
  say(redacted(`The report was not written: ${explanationOf(error)?.message ?? String(error)}`), "warn")
})
