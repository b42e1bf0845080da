/** What a run reports while it works and when it has ended: heartbeats, alarms that begin or end, and metrics. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { randomUUID } from "node:crypto"
import { factsOf, runningOf, watchOutput } from "../../../run/alarms-now.ts"
import { post } from "./http.ts"
import { report } from "./report.ts"
import { openReadable } from "../../../command/readable.ts"
import { warn } from "../../../console/findings.ts"
import type { End, Report, Reported, Subject } from "../../../command/features.ts"

/** Sends the first heartbeat, and the others at the end of the run. */
export const beginSignals = Effect.fnUntraced(function* ({ command, output, catalogue }: Subject) {
  const { heartbeatUrl } = output.signals
  // Heartbeats of one run have one id, by which the receiver measures how long it took.
  const rid = randomUUID()
  const beat = (path: string, body: string) =>
    heartbeatUrl === undefined
      ? Effect.void
      : Effect.flatMap(
          Effect.promise(() => post(heartbeatUrl, { path, search: { rid }, body })),
          (problem) => (problem === undefined ? Effect.void : warn([`The heartbeat was not reached: ${problem}.`]))
        )
  const starting = yield* Effect.forkChild(beat("/start", `sluice ${command} begins`))
  const report: Report = (end) =>
    Effect.all(
      [
        // They go in this order; the start has long been sent.
        Effect.andThen(Fiber.await(starting), beat(pathOf(end), end.text)),
        end.isSilent
          ? Effect.void
          : reportAlarms(output, catalogue, command === "sync" ? (end.failed ?? null) : undefined)
      ],
      { concurrency: "unbounded" }
    )
  return report
})

/** Decides the alarms, reports what each place has not accepted, and remembers them. */
export const reportAlarms = Effect.fnUntraced(function* (
  output: Reported,
  catalogue: Subject["catalogue"],
  failed?: { readonly exitCode: number; readonly message: string; readonly next: string } | null
) {
  const { facts, running } = yield* Effect.gen(function* () {
    const readable = yield* openReadable(output)
    const facts = readable.source === "none" ? undefined : yield* factsOf(output, catalogue, readable)
    return { facts, running: runningOf(readable) }
  }).pipe(
    // A run that failed may have left no tables, or none that can be read.
    Effect.orElseSucceed(() => ({ facts: undefined, running: { isRunning: false } })),
    Effect.scoped
  )
  const watched = yield* watchOutput(output, facts, { ...running, failed })
  yield* warn(yield* report(watched, { output, facts, isAtEndOfSync: failed !== undefined }))
  yield* watched.remember
})

const pathOf = ({ exitCode, isSilent }: End): string => (isSilent ? "/log" : exitCode === 0 ? "" : `/${exitCode}`)
