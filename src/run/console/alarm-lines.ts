/** Alarms as `check` and `status` show them. */
import { keyOf } from "../../values/alarm.ts"
import type { KnownAlarm } from "../../stores/alarm-state.ts"
import { instant } from "../result.ts"

const rank = ({ level, silenced }: KnownAlarm): number => (silenced !== undefined ? 2 : level === "error" ? 0 : 1)

export const sorted = (alarms: ReadonlyArray<KnownAlarm>): ReadonlyArray<KnownAlarm> =>
  alarms.toSorted((one, other) => rank(one) - rank(other))

/** One line for each: `error    sync: run … ended incomplete. ./sluice status`. */
export const alarmLines = (alarms: ReadonlyArray<KnownAlarm>): ReadonlyArray<string> =>
  sorted(alarms).map((alarm) => {
    const { level, message, next, silenced } = alarm
    const word = (silenced === undefined ? level : "silenced").padEnd(8)
    return silenced === undefined
      ? `${word} ${keyOf(alarm)}: ${message}. Next: ${next}`
      : `${word} ${keyOf(alarm)}: ${message} (${silenced})`
  })

export const shownAlarms = (alarms: ReadonlyArray<KnownAlarm>) =>
  sorted(alarms).map((alarm) => ({ alarm: keyOf(alarm), ...alarm, since: instant(alarm.since) }))
