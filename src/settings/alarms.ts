/** The settings of section `[alarms]`: the limits of the alarms, and those that are not reported. */
import { date, duration, numberFrom, positiveNumber, share } from "./kinds.ts"
import { type Setting, setting } from "./setting.ts"
import type { AlarmLimits, Silence } from "../values/alarm.ts"
import { dayMs } from "../catalog/timestamps.ts"
import { durationMs } from "../values/duration.ts"
import type { Settings } from "./read.ts"

export const alarmSettings = {
  warn_after: setting(duration, {
    description: "Age of a table, since its last complete reading, that is a warning.",
    default: "30h"
  }),
  error_after: setting(duration, { description: "Age of a table that is an error.", default: "54h" }),
  volume_sensitivity: setting(positiveNumber, {
    description: "Standard deviations by which the new and changed rows of a night may differ from the nights before.",
    default: 3
  }),
  volume_nights: setting(numberFrom(7), {
    description: "How many nights a night is compared with; with fewer than 7, it is not.",
    default: 14
  }),
  volume_min_rows: setting(numberFrom(0), {
    description: "A difference of fewer rows is no alarm.",
    default: 50
  }),
  reject_share: setting(share, {
    description: "Share of the records of a table that a sync may reject, values included.",
    default: 0.01
  }),
  request_factor: setting(positiveNumber, {
    description: "How many times the planned requests a sync may send.",
    default: 3
  }),
  requests_per_day: setting(positiveNumber, {
    description: "Requests that the service allows per day, for the forecast of the budget.",
    default: 200_000
  }),
  disk_days: setting(numberFrom(0), {
    description: "Warn if the disk of the output folder is full in fewer days, at the rate of the last nights.",
    default: 14
  }),
  disk_free_mb: setting(numberFrom(0), {
    description: "Free space on that disk, in megabytes, below which it is an error.",
    default: 500
  }),
  token_expires: setting(date, {
    description: "Day on which the token expires, if you know it; the API does not say.",
    example: "2027-01-31"
  }),
  token_days: setting(numberFrom(0), { description: "Days before that day from which it is a warning.", default: 14 })
} satisfies Readonly<Record<string, Setting>>

export interface AlarmSettings {
  readonly limits: AlarmLimits
  readonly silences: ReadonlyArray<Silence>
}

export const alarmsOf = ({ values, silences }: Settings): AlarmSettings => {
  const { alarms, budget } = values
  return {
    limits: {
      warnAfter: durationMs(alarms.warn_after)!,
      errorAfter: durationMs(alarms.error_after)!,
      volume: {
        nights: alarms.volume_nights,
        sensitivity: alarms.volume_sensitivity,
        minRows: alarms.volume_min_rows
      },
      rejectShare: alarms.reject_share,
      requestFactor: alarms.request_factor,
      requestsPerDay: alarms.requests_per_day - budget.reserve_per_day,
      diskDays: alarms.disk_days,
      diskFreeMin: alarms.disk_free_mb * 1_000_000,
      tokenDays: alarms.token_days,
      tokenExpires: alarms.token_expires === undefined ? undefined : Date.parse(alarms.token_expires)
    },
    // An item with a problem is incomplete, and the problem stops the command.
    silences: silences.flatMap(({ alarm, reason, until }) =>
      alarm === undefined || reason === undefined || until === undefined
        ? []
        : [{ alarm, reason, until: Date.parse(until) + dayMs }]
    )
  }
}
