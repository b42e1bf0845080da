/** Runs work whose end is reported. Its result stays what it is, whatever happens to the report. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { exitCodes } from "../values/failure.ts"
import { explanationOf } from "../console/errors.ts"
import { warn } from "../console/findings.ts"
import { Output } from "../console/streams.ts"
import { type End, RunFeatures, type Subject } from "./features.ts"

export const withSignals = Effect.fnUntraced(function* <A extends { readonly exitCode: number }, E, R>(
  subject: Subject,
  work: Effect.Effect<A, E, R>
) {
  const { redacted } = yield* Output
  const report = yield* (yield* RunFeatures).beginSignals(subject)
  return yield* Effect.onExit(work, (exit) =>
    Effect.catchCause(report(endOf(exit, subject.command, redacted)), (cause) =>
      warn([`What the run did was not reported: ${String(Cause.squash(cause))}`])
    )
  )
})

/** How the work ended, in words. */
const endOf = (
  exit: Exit.Exit<{ readonly exitCode: number }, unknown>,
  command: string,
  redacted: (text: string) => string
): End => {
  if (Exit.isSuccess(exit)) {
    const { exitCode } = exit.value
    return { exitCode, text: `sluice ${command} ended with exit code ${exitCode}` }
  }
  if (Cause.hasInterrupts(exit.cause))
    return { exitCode: 143, text: `sluice ${command} was stopped; everything read is kept`, isSilent: true }
  const explanation = explanationOf(Cause.squash(exit.cause))
  const exitCode = explanation ? exitCodes[explanation.ends] : exitCodes.failed
  const { message: text, next } = explanation ?? { message: "an internal error", next: "./sluice sync" }
  const message = redacted(text)
  return {
    exitCode,
    text: `sluice ${command} ended with exit code ${exitCode}: ${message}`,
    failed: { exitCode, message, next },
    ...(exitCode === exitCodes.locked && { isSilent: true })
  }
}
