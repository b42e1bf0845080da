/** Values and shapes that several tables share. */
import { count, date, enumeration, object, text } from "./fields.ts"

/** The statuses of an appointment (A 2.11). */
export const appointmentStatuses = "new confirmed cancelled showed noshow invalid completed active".split(" ")

/** The directions of a message (A 2.12). */
export const directions = ["inbound", "outbound"]

/** The kinds of sender of a message (A 2.12). */
export const messageSources = ["workflow", "bulk_actions", "campaign", "api", "app"]

/** The recurrence rule of subscriptions and estimates (B 2.4). */
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
