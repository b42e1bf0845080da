/** Decides which alarms there are now, and what changed since the last time. Sends no requests. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { statfs } from "node:fs/promises"
import type { Catalogue } from "../catalog/discover.ts"
import type { Failure } from "../values/failure.ts"
import { onDisk } from "../output/files.ts"
import { outputPaths } from "../output/paths.ts"
import type { Warehouse } from "../stores/warehouse/warehouse.ts"
import type { FailedRun } from "./alarm.ts"
import { alarmsOf } from "./alarms.ts"
import { type Facts, factsOf } from "./facts.ts"
import type { AlarmSettings } from "./silence.ts"
import { changesOf, readState, withSample, writeState } from "./state.ts"

export interface Watch extends AlarmSettings {
  readonly folder: string
  readonly isRunning: boolean
  /** Why the run that ends now did nothing; `undefined` if no run ends now, `null` if it did its work. */
  readonly failed?: Omit<FailedRun, "at"> | null | undefined
}

/** `facts`: `undefined` if there are no tables yet. The state is stored only by `remember`, after the changes were reported. */
export const watch = Effect.fn("alarms.watch")(function* (
  { folder, limits, silences, isRunning, failed }: Watch,
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
  const alarms = alarmsOf(
    {
      now,
      facts: facts ?? noFacts,
      // The last sample may be of this time already.
      free: sample === undefined || free.at(-1) === sample ? free : [...free, sample],
      failed: failedRun,
      isRunning
    },
    limits
  )
  const changes = changesOf(state.alarms, alarms, silences, now)
  const next = { version: 1 as const, alarms: changes.alarms, free, ...(failedRun && { failed: failedRun }) }
  const { digestAt } = state
  const path = outputPaths(folder).alarms
  return {
    ...changes,
    now,
    failed: failedRun,
    digestAt,
    /** `sentAt`: when a digest was sent, if not the known one was the last. */
    remember: (sentAt = digestAt) =>
      onDisk(path, "written", () => writeState(folder, { ...next, ...(sentAt !== undefined && { digestAt: sentAt }) }))
  }
})

const noFacts: Facts = {
  syncs: [],
  completeAt: [],
  nights: new Map(),
  lastReadings: [],
  standing: [],
  targets: [],
  limits: [],
  unknownTimeZones: [],
  modelProblems: [],
  newFields: [],
  newValues: []
}

export const readFacts = (
  { volumeNights }: AlarmSettings["limits"],
  catalogue: Pick<Catalogue, "resources">
): Effect.Effect<Facts, Failure, Warehouse> => factsOf(volumeNights, catalogue)
