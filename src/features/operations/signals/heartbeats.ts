/** What a run reports while it works and when it has ended: heartbeats, alarms that begin or end, and metrics. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { randomUUID } from "node:crypto"
import { readFacts, watch } from "../../../alarms/watch.ts"
import { post } from "./http.ts"
import { isDigestDue, sendDigest } from "./digest.ts"
import { report } from "./report.ts"
import { openReadable } from "../../../command/readable.ts"
import { warn } from "../../../console/findings.ts"
import type { End, Reported, Reporter, Subject } from "../../../command/features.ts"

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
  const end = (end: End) =>
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
  return { services: Context.empty(), onEvent: undefined, end } satisfies Reporter
})

/** Decides the alarms, reports what changed, and remembers it. */
export const reportAlarms = Effect.fnUntraced(function* (
  output: Reported,
  catalogue: Subject["catalogue"],
  failed?: { readonly exitCode: number; readonly message: string; readonly next: string } | null
) {
  const { folder, alarms } = output
  const { facts, isRunning } = yield* Effect.gen(function* () {
    const { tables, holder } = yield* openReadable(output)
    const isRunning = holder?.isRun === true
    return { isRunning, facts: tables && (yield* Effect.provide(readFacts(alarms.limits, catalogue), tables)) }
  }).pipe(
    // A run that failed may have left no tables, or none that can be read.
    Effect.orElseSucceed(() => ({ facts: undefined, isRunning: false })),
    Effect.scoped
  )
  const watched = yield* watch({ folder, ...alarms, isRunning, failed }, facts)
  yield* warn(yield* report(output.signals, watched, facts, folder))
  const isDue = failed !== undefined && isDigestDue(output.signals, watched)
  if (isDue) yield* warn(yield* sendDigest(output, watched, facts))
  yield* watched.remember(isDue ? watched.now : undefined)
})

const pathOf = ({ exitCode, isSilent }: End): string => (isSilent ? "/log" : exitCode === 0 ? "" : `/${exitCode}`)
