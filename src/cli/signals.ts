/** What a run reports while it works and when it has ended: heartbeats, alarms that begin or end, and metrics. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { randomUUID } from "node:crypto"
import { readFacts, watch } from "../alarms/watch.ts"
import { exitCodes } from "../failure.ts"
import type { AlarmSettings } from "../settings/alarms.ts"
import type { OutputSettings } from "../settings/settings.ts"
import type { SignalSettings } from "../settings/signals.ts"
import { post } from "../signals/http.ts"
import { report } from "../signals/report.ts"
import { explanationOf } from "./errors.ts"
import { Output } from "./output.ts"
import { openReadable } from "./readable.ts"

export interface Reported extends OutputSettings {
  readonly alarms: AlarmSettings
  readonly signals: SignalSettings
}

/** How a run ended. */
interface End {
  readonly exitCode: number
  /** For the body of a heartbeat, without personal data. */
  readonly text: string
  /** Absent if the run did its work, perhaps in part. */
  readonly failed?: { readonly exitCode: number; readonly message: string; readonly next: string }
  /** Another run worked, or a signal stopped this one: it says nothing about the account. */
  readonly isSilent?: true
}

/** Reports the work. Its result stays what it is, whatever happens to the reports. */
export const withSignals = Effect.fnUntraced(function* <A extends { readonly exitCode: number }, E, R>(
  output: Reported,
  command: string,
  work: Effect.Effect<A, E, R>
) {
  const { heartbeat } = output.signals
  const { redacted } = yield* Output
  // Heartbeats of one run have one id, by which the receiver measures how long it took.
  const rid = randomUUID()
  const beat = (path: string, body: string) =>
    heartbeat === undefined
      ? Effect.void
      : Effect.flatMap(
          Effect.promise(() => post(heartbeat, { path, search: { rid }, body })),
          (problem) => (problem === undefined ? Effect.void : warn([`The heartbeat was not reached: ${problem}.`]))
        )
  const starting = yield* Effect.forkChild(beat("/start", `sluice ${command} begins`))
  return yield* Effect.onExit(work, (exit) =>
    Effect.gen(function* () {
      const end = endOf(exit, command, redacted)
      yield* Effect.all(
        [
          // In this order; the start has long been sent.
          Effect.andThen(Fiber.await(starting), beat(pathOf(end), end.text)),
          end.isSilent ? Effect.void : reportAlarms(output, command === "sync" ? (end.failed ?? null) : undefined)
        ],
        { concurrency: "unbounded" }
      )
    }).pipe(Effect.catchCause((cause) => warn([`What the run did was not reported: ${String(Cause.squash(cause))}`])))
  )
})

/** Decides the alarms, reports what changed, and remembers it. */
export const reportAlarms = Effect.fnUntraced(function* (
  output: Reported,
  failed?: { readonly exitCode: number; readonly message: string; readonly next: string } | null
) {
  const { folder, alarms } = output
  const { facts, isRunning } = yield* Effect.gen(function* () {
    const { tables, holder } = yield* openReadable(output)
    const isRunning = holder?.isRun === true
    return { isRunning, facts: tables && (yield* Effect.provide(readFacts(alarms.limits), tables)) }
  }).pipe(
    // A run that failed may have left no tables, or none that can be read.
    Effect.orElseSucceed(() => ({ facts: undefined, isRunning: false })),
    Effect.scoped
  )
  const watched = yield* watch({ folder, ...alarms, isRunning, failed }, facts)
  yield* warn(yield* report(output.signals, watched, facts, folder))
  yield* watched.remember
})

const warn = Effect.fnUntraced(function* (problems: ReadonlyArray<string>) {
  const { redacted, say } = yield* Output
  for (const problem of problems) say(redacted(problem), "warn")
})

const pathOf = ({ exitCode, isSilent }: End): string => (isSilent ? "/log" : exitCode === 0 ? "" : `/${exitCode}`)

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
