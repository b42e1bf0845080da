/** Decides which alarms there are now, and what changed since the last time. Sends no requests. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { statfs } from "node:fs/promises"
import { duration } from "../values/text.ts"
import { onDisk } from "../output/files.ts"
import { outputPaths } from "../output/paths.ts"
import { type Alarm, alarmsOf } from "./alarms.ts"
import type { Facts } from "./facts.ts"
import type { AlarmSettings } from "./silence.ts"
import { type Evidence, type FailedRun, lastEnded, verdictOf } from "./verdict.ts"
import { type Naming, verdictText } from "./verdict-text.ts"
import { type Place, type Notified, changeState, changesOf, readState, notifiedAt, withSample } from "./state.ts"

export interface Watch extends AlarmSettings {
  readonly folder: string
  readonly isRunning: boolean
  /** The facts are those of a release, which does not show what later runs have found. */
  readonly isOfRelease?: boolean
  /** How messages name what they are about. */
  readonly naming: Pick<Naming, "tokenOf">
  /** Why the run that ends now did nothing; `undefined` if no run ends now, `null` if it did its work. */
  readonly failed?: Omit<FailedRun, "at"> | null | undefined
}

/** `facts`: `undefined` if there are no tables yet. The state is stored only by `remember`, and what a place accepts by `store`. */
export const watch = Effect.fn("alarms.watch")(function* (
  { folder, limits, naming, silences, isOfRelease, isRunning, failed }: Watch,
  facts: Facts | undefined
) {
  const now = yield* Clock.currentTimeMillis
  const state = yield* Effect.promise(() => readState(folder))
  const bytes = yield* Effect.promise(() =>
    statfs(folder).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => undefined
    )
  )
  const sample = bytes === undefined ? undefined : { at: now, bytes }
  const free = withSample(state.free, sample)
  const failedRun = failed === null ? undefined : failed ? { ...failed, at: now } : state.failed
  const known = facts ?? noFacts
  const evidence = evidenceOf(known, { isRunning, failed: failedRun })
  const verdict = verdictOf(evidence)
  const named = {
    ...naming,
    isOfSeveral: verdict.locations.length > 1,
    placeOf: (location: string) => known.names.get(location) ?? location
  }
  const found = alarmsOf(
    {
      now,
      facts: known,
      verdict,
      naming: named,
      // The last sample may be of this time already.
      free: sample === undefined || free.at(-1) === sample ? free : [...free, sample],
      isRunning
    },
    limits
  )
  const isUnknown = ({ where }: Alarm) => isOfRelease === true && found.every((one) => one.where !== where)
  const alarms = [...found, ...state.alarms.filter(isUnknown)]
  const changes = changesOf(state.alarms, alarms, silences, now)
  const next = { version: 1 as const, alarms: changes.alarms, free, ...(failedRun && { failed: failedRun }) }
  const path = outputPaths(folder).alarms
  const change = (by: Parameters<typeof changeState>[1]) => onDisk(path, "written", () => changeState(folder, by))
  return {
    ...changes,
    now,
    evidence,
    naming: named,
    verdict,
    saying: verdictText(verdict, named, (at) => `${duration(now - at)} ago`),
    failed: failedRun,
    notified: (place: Place) => notifiedAt(state, place),
    store: (place: Place, notified: Notified) =>
      change((now) => ({ ...now, notified: { ...now.notified, [place]: notified } })),
    remember: change(({ notified }) => ({ ...next, ...(notified && { notified }) }))
  }
})

/** Of what a run that works now has begun, it says later how it ended. */
export const evidenceOf = (
  { modelProblems: models, readings, syncs, targets }: Facts,
  { failed, isRunning }: { readonly isRunning: boolean; readonly failed: FailedRun | undefined }
): Evidence => ({ readings, run: lastEnded(syncs, isRunning), failed, targets: isRunning ? [] : targets, models })

export const noFacts: Facts = {
  syncs: [],
  readings: [],
  names: new Map(),
  nights: new Map(),
  standing: [],
  targets: [],
  limits: [],
  unknownTimeZones: [],
  unknownStates: [],
  modelProblems: [],
  newFields: [],
  newValues: []
}
