/** Runs work beside those that report it. Its result stays what it is, whatever happens to the reports. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { exitCodes } from "../values/failure.ts"
import { explanationOf } from "../console/errors.ts"
import { RunEvents } from "../values/run-event.ts"
import { warn } from "../console/findings.ts"
import { Output } from "../console/streams.ts"
import { type End, RunFeatures, type Subject } from "./features.ts"

export const withReports = Effect.fnUntraced(function* <A extends { readonly exitCode: number }, E, R>(
  subject: Subject,
  work: Effect.Effect<A, E, R>
) {
  const { redacted } = yield* Output
  const others = yield* RunEvents
  const reporters = yield* (yield* RunFeatures).reporters(subject)
  const listeners = [others, ...reporters.map(({ onEvent }) => onEvent)].filter((one) => one !== undefined)
  const services = Context.mergeAll(
    ...reporters.map(({ services }) => services),
    Context.make(RunEvents, (event) => listeners.forEach((listen) => listen(event)))
  )
  return yield* work.pipe(
    Effect.tap(({ exitCode }) => Effect.annotateCurrentSpan("sluice.exit_code", exitCode)),
    Effect.withSpan(`sluice ${subject.command}`, { root: true }),
    Effect.provideContext(services),
    Effect.onExit((exit) => {
      const end = endOf(exit, subject.command, redacted)
      const reports = reporters.map((reporter) =>
        Effect.catchCause(reporter.end(end), (cause) =>
          warn([`What the run did was not reported: ${String(Cause.squash(cause))}`])
        )
      )
      return Effect.all(reports, { concurrency: "unbounded" })
    })
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
