/** The limits of the alarms, and those that are not reported, as the settings say. */
import type { AlarmLimits, Silence } from "../values/alarm.ts"
import { dayMs } from "../catalog/timestamps.ts"
import { durationMs } from "../values/duration.ts"
import type { Settings } from "./read.ts"

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
