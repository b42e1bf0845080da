import type { Data } from "../../account/collection.ts"

/** The opening hours of a weekday, in minutes after midnight. */
export const openRangesOn = (calendar: Data, weekday: number): ReadonlyArray<{ from: number; to: number }> => {
  const rules = (calendar["openHours"] ?? usual) as typeof usual
  return rules
    .filter((rule) => rule.daysOfTheWeek.includes(weekday))
    .flatMap((rule) => rule.hours)
    .map(({ closeHour, closeMinute = 0, openHour, openMinute = 0 }) => ({
      from: openHour * 60 + openMinute,
      to: closeHour * 60 + closeMinute
    }))
}

/** Minutes from one slot to the next, at least 5. */
export const slotMinutes = (calendar: Data): number => {
  const duration = Number(calendar["slotDuration"] ?? 30)
  return Math.max(5, calendar["slotDurationUnit"] === "hours" ? duration * 60 : duration)
}

const usual: ReadonlyArray<{
  daysOfTheWeek: ReadonlyArray<number>
  hours: ReadonlyArray<{ openHour: number; openMinute?: number; closeHour: number; closeMinute?: number }>
}> = [{ daysOfTheWeek: [1, 2, 3, 4, 5], hours: [{ openHour: 9, closeHour: 17 }] }]
