/** Reports what changed to the places that the settings name. A place that fails is a warning: the run is right without it. */
import * as Effect from "effect/Effect"
import { chmod, mkdir } from "node:fs/promises"
import { dirname } from "node:path"
import type { FailedRun, Verdict } from "../../../alarms/verdict.ts"
import { isDeepStrictEqual } from "node:util"
import type { Facts } from "../../../alarms/facts.ts"
import type { KnownAlarm, Place, Notified } from "../../../alarms/state.ts"
import { type Due, dueAt, afterMessage, afterDigest } from "../../../alarms/notified.ts"
import type { Reported } from "../../../command/features.ts"
import { unlessRefused, writeAtomically } from "../../../output/files.ts"
import { placesOf } from "../../../settings/signals.ts"
import type { Failure } from "../../../values/failure.ts"
import { digestNow, isDigestDue } from "./digest.ts"
import { post } from "./http.ts"
import { mailText, sendMail } from "./mail.ts"
import { type Message, bodyOf, messageOf } from "./message.ts"
import { metricsText } from "./metrics.ts"

export interface Watched {
  readonly alarms: ReadonlyArray<KnownAlarm>
  readonly verdict: Verdict
  /** The verdict in words. */
  readonly saying: string
  readonly now: number
  readonly failed: FailedRun | undefined
  readonly notified: (place: Place) => Notified
  readonly store: (place: Place, notified: Notified) => Effect.Effect<void, Failure>
}

interface Reports {
  readonly output: Pick<Reported, "folder" | "signals">
  readonly facts: Facts | undefined
  /** A digest becomes due at the end of a sync. */
  readonly isAtEndOfSync: boolean
}

/**
 * Sends each place what it has not accepted, all places side by side, and stores at once what each accepts: so a slow place
 * costs no other one its message, nor what is known of it. Returns a sentence for each place that could not be reached.
 */
export const report = Effect.fnUntraced(function* (watched: Watched, reports: Reports) {
  const { facts, output } = reports
  const { metricsFile } = output.signals
  const metrics = Effect.promise(async () =>
    metricsFile && facts ? write(metricsFile, metricsText(facts, watched)) : undefined
  )
  const problems = yield* Effect.all(
    [
      ...placesOf(output.signals).map((place) => reportTo(place, watched, reports)),
      Effect.map(metrics, (problem) => (problem === undefined ? [] : [unreached(`${metricsFile}`, problem)]))
    ],
    { concurrency: "unbounded" }
  )
  return problems.flat()
})

const reportTo = Effect.fnUntraced(function* (
  place: Place,
  watched: Watched,
  { facts, isAtEndOfSync, output }: Reports
) {
  const { signals } = output
  const { alarms, now, store } = watched
  const stored = (notified: Notified) =>
    Effect.match(store(place, notified), {
      onFailure: ({ message }) => [`What ${names[place]} accepted was not stored: ${message}.`],
      onSuccess: () => []
    })
  const send = (message: Message, due: Due) =>
    Effect.promise(() =>
      place === "webhook"
        ? post(signals.webhookUrl!, { body: bodyOf(message, due, signals.webhookBody) })
        : sendMail(signals.sendmail, mailText(message, signals.mailTo!, now))
    )
  const problems: Array<string> = []
  const { digestDue, ...known } = watched.notified(place)
  let notified: Notified = signals.digest === undefined || digestDue === undefined ? known : { ...known, digestDue }
  const due = dueAt(notified, alarms)
  const message = messageOf({ alarms, ...due }, output.folder)
  const problem = message && (yield* send(message, due))
  const after = afterMessage(notified, alarms, now, problem)
  // A silence takes an alarm from these, also without a message.
  if (!isDeepStrictEqual(after, notified)) problems.push(...(yield* stored(after)))
  notified = after
  if (problem !== undefined) problems.push(unreached(names[place], problem))
  if (!isDigestDue(signals, notified, { now, isAtEndOfSync })) return problems
  // Who has just not answered is not waited for twice.
  const digest = Effect.promise(() => digestNow(output, watched, facts))
  const answer = problem ?? (yield* send(yield* digest, { opened: [], recovered: [] }))
  problems.push(...(yield* stored(afterDigest(notified, now, answer))))
  if (problem === undefined && answer !== undefined) problems.push(unreached(names[place], answer))
  return problems
})

const names = { webhook: "The webhook", mail: "The mail" } as const satisfies Readonly<Record<Place, string>>
const unreached = (place: string, problem: string): string => `${place} was not reached: ${problem}.`

/** The collector runs as another user, and must never read half a file. */
const write = async (path: string, text: string): Promise<string | undefined> => {
  try {
    await mkdir(dirname(path), { recursive: true })
    await writeAtomically(path, text)
    await unlessRefused(() => chmod(path, 0o644))
    return undefined
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}
