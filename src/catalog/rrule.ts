/** The recurrence rule of subscriptions and estimates (B 2.4). */
import { count, date, object, enumeration, text } from "./fields.ts"

export const rrule = object({
  intervalType: enumeration(["yearly", "monthly", "weekly", "daily", "hourly", "minutely", "secondly"]),
  interval: count("Time between two of them, in that unit"),
  startDate: date("First day"),
  startTime: text("Time of the first day, HH:mm:ss"),
  endDate: date("Last day"),
  endTime: text("Time of the last day"),
  dayOfMonth: count("Day of the month; -1 for the last"),
  dayOfWeek: enumeration(["mo", "tu", "we", "th", "fr", "sa", "su"]),
  numOfWeek: count("Which of those weekdays in the month; -1 for the last"),
  monthOfYear: enumeration("jan feb mar apr may jun jul aug sep oct nov dec".split(" ")),
  count: count("How many there are"),
  daysBefore: count("Days ahead of the date")
})
