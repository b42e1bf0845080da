/** The settings of section `[alarms]`: the limits of the alarms, and those that are not reported. */
import type { AlarmLimits, Silence } from "../values/alarm.ts"
import { dayMs } from "../catalog/timestamps.ts"
import {
  type ItemOf,
  type Section,
  type ValuesOf,
  alarmName,
  date,
  duration,
  numberFrom,
  positiveNumber,
  setting,
  share,
  text
} from "../values/setting.ts"

export const alarmsSection = {
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
} satisfies Section

/** The settings of an alarm that is known and not to be heard of. */
export const silenceSettings = {
  alarm: setting(alarmName, {
    description: "Kind of the alarm, or the alarm itself as ./sluice check names it.",
    example: "freshness:contacts"
  }),
  reason: setting(text, { description: "Why nobody needs to hear of it.", example: "The form is closed." }),
  until: setting(date, { description: "Last day of the silence, in UTC.", example: "2027-01-31" })
} satisfies Section

export interface AlarmSettings {
  readonly limits: AlarmLimits
  readonly silences: ReadonlyArray<Silence>
}

/** `reservePerDay`: requests that are left to others. */
export const alarmsOf = (
  alarms: ValuesOf<typeof alarmsSection>,
  silences: ReadonlyArray<ItemOf<typeof silenceSettings>>,
  reservePerDay: number
): AlarmSettings => ({
  limits: {
    ...alarms,
    volume: { nights: alarms.volumeNights, sensitivity: alarms.volumeSensitivity, minRows: alarms.volumeMinRows },
    requestsPerDay: alarms.requestsPerDay - reservePerDay,
    diskFreeMin: alarms.diskFreeMb * 1_000_000
  },
  // An item with a problem is incomplete, and the problem stops the command.
  silences: silences.flatMap(({ alarm, reason, until }) =>
    alarm === undefined || reason === undefined || until === undefined
      ? []
      : [{ alarm, reason, until: Date.parse(until) + dayMs }]
  )
})
