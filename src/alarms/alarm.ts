/** What an alarm is decided from. */
import type { Finding } from "../values/finding.ts"
import type { Section, ValuesOf } from "../values/setting.ts"
import type { Facts } from "./facts.ts"
import type { Verdict } from "./verdict.ts"
import type { Naming } from "./verdict-text.ts"
import { dayMs } from "../catalog/timestamps.ts"

export interface Situation {
  readonly now: number
  readonly facts: Facts
  readonly verdict: Verdict
  readonly naming: Naming
  /** The free space of the last nights, oldest first, and now. */
  readonly free: ReadonlyArray<FreeSpace>
  /** Whether a run is working now. */
  readonly isRunning: boolean
}

/** An alarm without its kind, which is a part of where it is. `what`: one sentence with the figures and the limit, without a stop. */
export interface Found extends Omit<Finding<"wrong" | "warning">, "where"> {
  /** What it is about, such as a table; absent if the kind says it. */
  readonly subject?: string
  readonly next: string
}

/** The definition of an alarm, whose check gets its own limits. */
export const alarm = <const Settings extends Section>(definition: {
  /** Sentences for docs/every-night.md. */
  readonly when: string
  /** Its limits, in section `[alarms]`. */
  readonly settings: Settings
  readonly check: (situation: Situation, limits: ValuesOf<Settings>) => ReadonlyArray<Found>
}) => definition

/** The free space at a time, epoch milliseconds. */
export interface FreeSpace {
  readonly at: number
  readonly bytes: number
}

/** Fewer days say little about a trend. */
const daysMin = 3

/** Days until nothing is free, from the trend of the samples; `undefined` if there is none, or it does not fall. */
export const daysLeft = (samples: ReadonlyArray<FreeSpace>): number | undefined => {
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined || last.at - first.at < daysMin * dayMs) return undefined
  const days = samples.map(({ at, bytes }) => ({ bytes, day: (at - first.at) / dayMs }))
  const middle = days.reduce((sum, { day }) => sum + day, 0) / days.length
  const level = days.reduce((sum, { bytes }) => sum + bytes, 0) / days.length
  const slope =
    days.reduce((sum, { bytes, day }) => sum + (day - middle) * (bytes - level), 0) /
    days.reduce((sum, { day }) => sum + (day - middle) ** 2, 0)
  return slope < 0 ? last.bytes / -slope : undefined
}
