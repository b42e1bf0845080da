/** Alarms as `check` and `status` show them. */
import * as Schema from "effect/Schema"
import { type KnownAlarm, WrittenAlarm, writtenOf } from "../alarms/state.ts"
import { levelWords, worstFirst } from "../values/finding.ts"
import { instant } from "./result.ts"
import { findingLine } from "./findings.ts"

/** An alarm in results. */
export const ShownAlarm = Schema.Struct({
  /** The name by which it is silenced: `freshness:contacts`. */
  alarm: Schema.String,
  ...WrittenAlarm.fields,
  /** When it was seen first, ISO 8601. */
  since: Schema.String
})

type Shown = typeof ShownAlarm.Type

/** Those that are silenced come last. */
export const sorted = (alarms: ReadonlyArray<KnownAlarm>): ReadonlyArray<KnownAlarm> =>
  worstFirst(alarms).toSorted((one, other) => Number(one.silenced !== undefined) - Number(other.silenced !== undefined))

/** One line for each: `error    sync: run … ended incomplete. Next: ./sluice status`. */
export const alarmLines = (alarms: ReadonlyArray<Shown>): ReadonlyArray<string> =>
  alarms.map(({ alarm, level, message, next, silenced }) =>
    silenced === undefined
      ? findingLine(level, { where: alarm, what: `${message}. Next: ${next}` }, levelWords.alarms)
      : findingLine("silenced", { where: alarm, what: `${message} (${silenced})` }, levelWords.alarms)
  )

/** As results and the body of a webhook have it. */
export const shownAlarm = (alarm: KnownAlarm): Shown => ({
  alarm: alarm.where,
  ...writtenOf(alarm),
  since: instant(alarm.since)
})
export const shownAlarms = (alarms: ReadonlyArray<KnownAlarm>): ReadonlyArray<Shown> => sorted(alarms).map(shownAlarm)
