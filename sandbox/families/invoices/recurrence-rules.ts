import { invalid } from "../../http/errors.ts"
import { between, choice, type Field, number, object, type Shape } from "../../http/shape.ts"
import type { Data } from "../../account/collection.ts"
import { day } from "./document-shapes.ts"

const time: Field = { type: "string", format: "time" }

/** Recurrence rules (B 2.4). */
const rrule: Shape = {
  intervalType: choice(..."yearly monthly weekly daily hourly minutely secondly".split(" ")),
  interval: between(number, 1),
  startDate: day,
  startTime: time,
  endDate: day,
  endTime: time,
  dayOfMonth: between(number, -1, 28),
  dayOfWeek: choice(..."mo tu we th fr sa su".split(" ")),
  numOfWeek: between(number, -1, 4),
  monthOfYear: choice(..."jan feb mar apr may jun jul aug sep oct nov dec".split(" ")),
  count: between(number, 1),
  daysBefore: between(number, 0)
}

export const schedule: Field = object({ executeAt: { type: "string", format: "date-time" }, rrule: object(rrule) })

/** Checks what the shape of a rule does not cover: the ranges of numbers, and the members that a repeating rule needs. */
export const checkRule = (rule: Data, isNeeded: boolean, label: string): void => {
  const { dayOfMonth, numOfWeek } = rule
  const missing = isNeeded ? ["intervalType", "interval", "startDate"].filter((name) => (rule[name] ?? "") === "") : []
  const problems = [
    ...missing.map((name) => `${label}.${name} should not be empty`),
    ...(isPlace(dayOfMonth) ? [] : [`${label}.dayOfMonth must be -1 or 1 to 28`]),
    ...(isPlace(numOfWeek) ? [] : [`${label}.numOfWeek must be -1, 1, 2, 3 or 4`])
  ]
  if (problems.length > 0) throw invalid(...problems)
}

/** Positions are counted from 1, or -1 for the last; the shape has their bounds. */
const isPlace = (sent: unknown): boolean => sent === undefined || (Number.isInteger(sent) && sent !== 0)
