/** How a run ended: decided here, from its readings and from everything that followed them. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { explanationOf } from "../console/errors.ts"
import type { ResourceResult } from "../stages/extract/extract.ts"
import { type RunRecord, endRun, failRun } from "../stores/warehouse/meta/runs.ts"
import { exitCodes } from "../values/failure.ts"
import type { RunState, Status } from "../values/state.ts"
import { isComplete } from "../values/status.ts"

export interface Night {
  readonly status: RunState
  readonly exitCode: number
}

/**
 * The status of the readings alone, and of the clock by which they were dated. Credentials are why a run ends only if nothing
 * could be read with them: what is refused beside what was read is a part that is missing.
 */
export const nightOf = (
  read: Status,
  results: ReadonlyArray<ResourceResult>,
  clockAheadMs: number | undefined
): Night => {
  const status = read === "complete" && clockAheadMs !== undefined ? "complete_with_warnings" : read
  const exitCode =
    status !== "incomplete"
      ? 0
      : results.some(({ reason }) => reason === "retryLater")
        ? exitCodes.later
        : !results.some(isComplete) && results.some(({ reason }) => reason === "badToken")
          ? exitCodes.credentials
          : exitCodes.partial
  return { status: exitCode === exitCodes.later ? "paused" : status, exitCode }
}

/** That of a process that SIGTERM has ended. */
const stoppedCode = 143

/** What releases, models and targets made of it. A run that is to be resumed is resumed whatever they did. */
const afterwards = (
  readings: Night,
  published: Exit.Exit<{ readonly problems: ReadonlyArray<unknown> }, unknown>
): Night => {
  if (Exit.isSuccess(published))
    return readings.status === "complete" && published.value.problems.length > 0
      ? { ...readings, status: "complete_with_warnings" }
      : readings
  const status = readings.status === "paused" ? "paused" : "incomplete"
  if (Cause.hasInterrupts(published.cause)) return { status: "interrupted", exitCode: stoppedCode }
  const explanation = explanationOf(Cause.squash(published.cause))
  return { status, exitCode: explanation ? exitCodes[explanation.ends] : exitCodes.failed }
}

/** Stores with which exit code the readings of a run failed. A process that is stopped or killed leaves none. */
export const failing = <A, E, R>(
  readings: Effect.Effect<A, E, R>,
  run: RunRecord,
  { codeFor, requests }: { readonly codeFor: (error: E) => number; readonly requests: () => number }
) => {
  const store = (exitCode: number) => Effect.ignore(failRun(run, exitCode, requests()))
  return readings.pipe(
    Effect.tapError((error) => store(codeFor(error))),
    Effect.tapDefect(() => store(exitCodes.failed))
  )
}

/**
 * Publishes, and stores how the run ended before and after it: the release shows how the readings ended, and the warehouse what
 * became of all. Returns both.
 */
export const publishing = Effect.fnUntraced(function* <A extends { readonly problems: ReadonlyArray<unknown> }, E, R>(
  run: RunRecord,
  requests: number,
  readings: Night,
  publish: Effect.Effect<A, E, R>
) {
  yield* endRun(run, { status: readings.status, requests })
  const published = yield* publish.pipe(
    Effect.onExit((exit) => {
      const stored = endRun(run, { ...afterwards(readings, exit), requests })
      // Its own failure is the one that matters.
      return Exit.isSuccess(exit) ? stored : Effect.ignore(stored)
    })
  )
  return { published, night: afterwards(readings, Exit.succeed(published)) }
})
