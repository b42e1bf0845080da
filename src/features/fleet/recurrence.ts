/**
 * A schedule as pg-boss reads it: recurrence rules (RFC 5545) for the five fields of a crontab. Of a crontab, pg-boss makes no
 * night of a time that the clock skips, and two of a time that it has twice; of a rule, one of the latter. The former are added
 * as dates: the moment at which the clock goes on.
 */
import * as Cron from "effect/Cron"
import * as DateTime from "effect/DateTime"
import { itemAt } from "../../catalog/present.ts"
import { dayMs } from "../../catalog/timestamps.ts"

/** Changes of the clock are known for the next years; a worker that starts looks anew. */
const years = 10
const weekdays = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"]
const allDays = Array.from({ length: 31 }, (_, index) => index + 1)

type Fields = Pick<Cron.Cron, "minutes" | "hours" | "days" | "months" | "weekdays">

/** One rule; two, which never meet, for a crontab that names days of the month or days of the week. `text`: one that is right. */
export const recurrencesOf = (text: string, timeZone: string, now: number): ReadonlyArray<string> => {
  const cron = Cron.parseUnsafe(text, timeZone)
  const [day = "", , weekday = ""] = text.trim().split(/\s+/).slice(-3)
  const isEither = cron.days.size > 0 && cron.weekdays.size > 0 && !day.startsWith("*") && !weekday.startsWith("*")
  const all: ReadonlyArray<Fields> = isEither
    ? [
        { ...cron, weekdays: new Set() },
        { ...cron, days: new Set(allDays.filter((one) => !cron.days.has(one))) }
      ]
    : [cron]
  const gaps = gapsOf(timeZone, now)
  return all.map((fields) => {
    const dates = gaps.filter((gap) => isInGap(fields, gap)).map(({ to }) => localText(to))
    return [`RRULE:${ruleOf(fields)}`, ...(dates.length > 0 ? [`RDATE:${dates.join(",")}`] : [])].join("\n")
  })
}

const ruleOf = ({ days, hours, minutes, months, weekdays: named }: Fields): string => {
  const parts = {
    BYMONTH: [...months],
    BYMONTHDAY: [...days],
    BYDAY: [...named].map((day) => itemAt(weekdays, day)),
    BYHOUR: hours.size > 0 ? [...hours] : Array.from({ length: 24 }, (_, hour) => hour),
    BYMINUTE: minutes.size > 0 ? [...minutes] : Array.from({ length: 60 }, (_, minute) => minute),
    BYSECOND: [0]
  }
  const given = Object.entries(parts).filter(([, values]) => values.length > 0)
  return ["FREQ=DAILY", ...given.map(([part, values]) => `${part}=${values.join(",")}`)].join(";")
}

/** What the clocks of a zone skip: from the first minute that they do not show to the one at which they go on, as if in UTC. */
interface Gap {
  readonly from: number
  readonly to: number
}

const minuteMs = 60_000

const gapsOf = (timeZone: string, now: number): ReadonlyArray<Gap> => {
  const zone = DateTime.zoneMakeNamedUnsafe(timeZone)
  const offsetAt = (at: number): number => DateTime.zonedOffset(DateTime.makeZonedUnsafe(at, { timeZone: zone }))
  const gaps: Array<Gap> = []
  // A worker that starts shortly afterwards has to know it, too.
  let start = Math.floor(now / minuteMs) * minuteMs - 2 * dayMs
  let before = offsetAt(start)
  for (const last = start + years * 366 * dayMs; start < last; start += dayMs) {
    const after = offsetAt(start + dayMs)
    if (after > before) {
      let [low, high] = [start, start + dayMs]
      while (high - low > minuteMs) {
        const middle = low + Math.floor((high - low) / minuteMs / 2) * minuteMs
        if (offsetAt(middle) === before) low = middle
        else high = middle
      }
      gaps.push({ from: high + before, to: high + after })
    }
    before = after
  }
  return gaps
}

/** Whether the crontab names a minute that is skipped; one that it names at the end of the gap is none. */
const isInGap = (fields: Fields, { from, to }: Gap): boolean => {
  if (isNamed(fields, to)) return false
  for (let minute = from; minute < to; minute += minuteMs) if (isNamed(fields, minute)) return true
  return false
}

const isNamed = ({ days, hours, minutes, months, weekdays: named }: Fields, local: number): boolean => {
  const at = new Date(local)
  const has = (set: ReadonlySet<number>, value: number) => set.size === 0 || set.has(value)
  return (
    has(minutes, at.getUTCMinutes()) &&
    has(hours, at.getUTCHours()) &&
    has(months, at.getUTCMonth() + 1) &&
    has(days, at.getUTCDate()) &&
    has(named, at.getUTCDay())
  )
}

/** 20270328T030000. */
const localText = (local: number): string => new Date(local).toISOString().replaceAll(/[-:]|\.\d+Z/g, "")
