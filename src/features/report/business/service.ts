/** Sections: how fast questions are answered, and how many appointments are missed. */
import * as Effect from "effect/Effect"
import { numberOf } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { legend, lines, ticksOf } from "../../../values/charts.ts"
import { brief, count, counted, duration, share } from "../format.ts"
import { month } from "../../../values/moment.ts"
import { html } from "../../../values/html.ts"
import { ownName } from "../mask.ts"
import { distinctNames } from "../../../values/names.ts"
import { bar, numbersOf, section, tableOf } from "../table.ts"
import { type TopicDefinition, inMonths, lastWhole, leftOut, monthSql, noneText } from "./figures.ts"

const minutes = (value: number | undefined): string => (value === undefined ? "–" : duration(value * 60_000))

const message = { thing: "message", of: "direction or time" }

export const replyTopic: TopicDefinition = {
  id: "replies",
  title: "Reply times",
  models: ["fct_conversation_reply", "fct_message"],
  resources: ["messages"],
  unknown: "SELECT count(*) FROM bi.fct_message WHERE is_between_people AND (direction IS NULL OR sent_at IS NULL)",
  make: Effect.fn("report.replies")(function* ({ months, unknown }) {
    const found = yield* (yield* Warehouse).rows(
      `SELECT ${monthSql("asked_local_date")} AS month, count(*) AS questions, count(*) FILTER (is_replied) AS replied,
         median(reply_minutes)::DOUBLE AS minutes, median(reply_business_minutes)::DOUBLE AS business
       FROM bi.fct_conversation_reply WHERE ${inMonths("asked_local_date", months)} GROUP BY ALL`
    )
    const rows = months.map((one) => {
      const row = found.find((candidate) => candidate["month"] === one)
      return {
        month: one,
        questions: Number(row?.["questions"] ?? 0),
        replied: Number(row?.["replied"] ?? 0),
        minutes: numberOf(row?.["minutes"] ?? null),
        business: numberOf(row?.["business"] ?? null)
      }
    })
    const [questions, replied] = [
      rows.reduce((sum, one) => sum + one.questions, 0),
      rows.reduce((sum, one) => sum + one.replied, 0)
    ]
    const whole = rows.find((one) => one.month === lastWhole(months))!
    const points = (key: "minutes" | "business") =>
      rows.map((row, index) => ({
        x: index / (rows.length - 1),
        y: row[key] === undefined ? undefined : row[key] / 60
      }))
    const series = [
      { name: "All hours", kind: "line", points: points("minutes") },
      { name: "Business hours", kind: "second", points: points("business") }
    ] as const
    return {
      figures: [{ title: "Median reply", value: minutes(whole.minutes), note: `in ${month(whole.month)}` }],
      content: section({
        id: "replies",
        title: "Reply times",
        lead:
          questions === 0
            ? noneText(
                "No contact asked a question in the last 13 months.",
                "a contact asked a question in the last 13 months",
                unknown,
                message
              )
            : `${share(replied, questions)} of ${counted(questions, "question")} since ${month(months[0]!)} were answered. ${whole.minutes === undefined ? `No question of ${month(whole.month)} was answered.` : `In ${month(whole.month)}, half of the answers came within ${minutes(whole.minutes)}.`} A question is the first of consecutive messages of a contact; business hours are Monday to Friday, 9:00 to 17:00, in the time zone of the location.${leftOut(unknown, message)}`,
        content:
          replied === 0
            ? undefined
            : html`${lines(series, {
                title: "Median time to the first reply by month",
                description: `In ${month(whole.month)}, ${minutes(whole.minutes)}; within business hours, ${minutes(whole.business)}.`,
                unit: "Median hours to the first reply, by the month of the question",
                format: brief,
                ticks: ticksOf(months.map(month), "points")
              })}
              ${legend(series)}
              ${numbersOf({
                id: "replies-by-month",
                caption: "Questions and the median time to their reply by month",
                rows,
                columns: [
                  { head: "Month", cell: (row) => month(row.month) },
                  { head: "Questions", kind: "number", cell: (row) => count(row.questions) },
                  { head: "Answered", kind: "number", cell: (row) => share(row.replied, row.questions) },
                  { head: "Median", kind: "number", cell: (row) => minutes(row.minutes) },
                  { head: "Median, business hours", kind: "number", cell: (row) => minutes(row.business) }
                ]
              })}`
      })
    }
  })
}

/** Calendars that are shown, those with the most appointments. */
const calendarsMax = 25

const appointment = { thing: "appointment", of: "time" }

export const appointmentTopic: TopicDefinition = {
  id: "appointments",
  title: "Missed appointments",
  models: ["fct_appointment"],
  resources: ["appointments"],
  unknown: "SELECT count(*) FROM bi.fct_appointment WHERE is_past IS NULL",
  week: {
    thing: "appointment booked",
    things: "appointments booked",
    rows: "SELECT (booked_at AT TIME ZONE 'UTC')::DATE AS day, NULL AS currency, NULL AS amount FROM bi.fct_appointment"
  },
  make: Effect.fn("report.appointments")(function* ({ months, placeOf, unknown }) {
    const found = yield* (yield* Warehouse).rows(
      `SELECT location_id, calendar_id, any_value(calendar_name) AS calendar, count(*) FILTER (is_attended) AS attended,
         count(*) FILTER (is_no_show) AS missed, count(*) FILTER (is_cancelled) AS cancelled, count(*) AS booked
       FROM bi.fct_appointment WHERE is_past AND ${inMonths("start_local_date", months)}
       GROUP BY ALL ORDER BY booked DESC, location_id, calendar_id`
    )
    const idOf = (row: (typeof found)[number]) => `${row["location_id"]}/${row["calendar_id"]}`
    const names = distinctNames(
      found.map((row) => ({
        id: idOf(row),
        name: ownName(String(row["calendar"] ?? "deleted calendar")),
        place: placeOf(String(row["location_id"]))
      }))
    )
    const calendars = found.map((row) => {
      const [attended, missed] = [Number(row["attended"]), Number(row["missed"])]
      return {
        calendar: names.get(idOf(row))!,
        attended,
        missed,
        cancelled: Number(row["cancelled"]),
        booked: Number(row["booked"]),
        rate: attended + missed === 0 ? 0 : missed / (attended + missed)
      }
    })
    const sum = (key: "attended" | "missed" | "booked") => calendars.reduce((all, one) => all + one[key], 0)
    const known = sum("attended") + sum("missed")
    const highest = Math.max(0, ...calendars.map(({ rate }) => rate))
    return {
      figures: [
        {
          title: "No-shows",
          value: known === 0 ? "–" : share(sum("missed"), known),
          note: `of appointments since ${month(months[0]!)}`
        }
      ],
      content: section({
        id: "appointments",
        title: "Missed appointments",
        lead:
          known === 0
            ? calendars.length === 0
              ? noneText(
                  "There was no appointment in the last 13 months.",
                  "there was an appointment in the last 13 months",
                  unknown,
                  appointment
                )
              : "No past appointment of the last 13 months says whether it was attended."
            : `Of ${counted(known, "past appointment")} since ${month(months[0]!)} whose outcome is known, ${count(sum("missed"))} were missed: ${share(sum("missed"), known)}.${calendars.length > calendarsMax ? ` The ${calendarsMax} calendars with the most appointments are shown.` : ""}${leftOut(unknown, appointment)}`,
        content:
          known === 0
            ? undefined
            : tableOf({
                id: "calendars",
                caption: "Past appointments by calendar",
                rows: calendars.slice(0, calendarsMax),
                folded: 12,
                columns: [
                  { head: "Calendar", cell: ({ calendar }) => calendar },
                  { head: "Booked", kind: "number", cell: ({ booked }) => count(booked) },
                  { head: "Attended", kind: "number", cell: ({ attended }) => count(attended) },
                  { head: "Missed", kind: "number", cell: ({ missed }) => count(missed) },
                  { head: "Cancelled", kind: "number", cell: ({ cancelled }) => count(cancelled) },
                  {
                    head: "Missed, share",
                    kind: "number",
                    cell: (one) => share(one.missed, one.attended + one.missed)
                  },
                  { head: "Share of the highest", kind: "chart", cell: ({ rate }) => bar(rate, highest) }
                ]
              })
      })
    }
  })
}
