/** Alarms that are known and not to be heard of: `[[silence]]`. */
import { dayMs } from "../catalog/timestamps.ts"
import { type ItemOf, type Section, date, pattern, setting, text } from "../values/setting.ts"
import { type AlarmLimits, alarmKinds } from "./alarms.ts"

/** A kind of alarm, and after a colon what it is about. */
const alarmName = pattern(
  `${alarmKinds.join(", ")}, or one of them with what it is about, such as freshness:contacts`,
  new RegExp(`^(${alarmKinds.join("|")})(:.+)?$`)
)

export const silenceSettings = {
  alarm: setting(alarmName, {
    description: "Kind of the alarm, or the alarm itself as ./sluice check names it.",
    example: "freshness:contacts"
  }),
  reason: setting(text, { description: "Why nobody needs to hear of it.", example: "The form is closed." }),
  until: setting(date, { description: "Last day of the silence, in UTC.", example: "2027-01-31" })
} satisfies Section

export interface Silence {
  readonly alarm: string
  readonly reason: string
  /** Epoch milliseconds. */
  readonly until: number
}

export interface AlarmSettings {
  readonly limits: AlarmLimits
  readonly silences: ReadonlyArray<Silence>
}

/** An item with a problem is incomplete, and the problem stops the command. */
export const silencesOf = (items: ReadonlyArray<ItemOf<typeof silenceSettings>>): ReadonlyArray<Silence> =>
  items.flatMap(({ alarm, reason, until }) =>
    alarm === undefined || reason === undefined || until === undefined
      ? []
      : [{ alarm, reason, until: Date.parse(until) + dayMs }]
  )
