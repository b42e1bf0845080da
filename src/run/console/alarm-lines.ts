/** Alarms as `check` and `status` show them. */
import * as Schema from "effect/Schema"
import { alarmKinds, keyOf } from "../../alarms/alarms.ts"
import type { KnownAlarm } from "../../alarms/state.ts"
import { instant } from "../result.ts"

/** An alarm in results. */
export const ShownAlarm = Schema.Struct({
  /** The name by which it is silenced: `freshness:contacts`. */
  alarm: Schema.String,
  kind: Schema.Literals(alarmKinds),
  /** What it is about, such as a table. */
  subject: Schema.optionalKey(Schema.String),
  level: Schema.Literals(["warning", "error"]),
  message: Schema.String,
  next: Schema.String,
  /** When it was seen first, ISO 8601. */
  since: Schema.String,
  /** Why it is not reported. */
  silenced: Schema.optionalKey(Schema.String)
})

type Described = Omit<KnownAlarm, "since">

const rank = ({ level, silenced }: Described): number => (silenced !== undefined ? 2 : level === "error" ? 0 : 1)

export const sorted = <Alarm extends Described>(alarms: ReadonlyArray<Alarm>): ReadonlyArray<Alarm> =>
  alarms.toSorted((one, other) => rank(one) - rank(other))

/** One line for each: `error    sync: run … ended incomplete. ./sluice status`. */
export const alarmLines = (alarms: ReadonlyArray<Described>): ReadonlyArray<string> =>
  sorted(alarms).map((alarm) => {
    const { level, message, next, silenced } = alarm
    const word = (silenced === undefined ? level : "silenced").padEnd(8)
    return silenced === undefined
      ? `${word} ${keyOf(alarm)}: ${message}. Next: ${next}`
      : `${word} ${keyOf(alarm)}: ${message} (${silenced})`
  })

export const shownAlarms = (alarms: ReadonlyArray<KnownAlarm>) =>
  sorted(alarms).map((alarm) => ({ alarm: keyOf(alarm), ...alarm, since: instant(alarm.since) }))
