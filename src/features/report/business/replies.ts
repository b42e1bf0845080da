/** Section: how fast questions are answered. */
import * as Effect from "effect/Effect"
import { numberOf } from "../../../stores/warehouse/sql.ts"
import { counted, duration, share } from "../format.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { number, sumOf } from "../../../pages/html-table.ts"
import { during, duringAll, inEach, inMonths, lastWhole, monthlyLines } from "./months.ts"
import type { Topic } from "./topic.ts"

export const replyTopic: Topic = {
  id: "replies",
  title: "Reply times",
  models: ["fct_conversation_reply", "fct_message"],
  resources: ["messages"],
  unknown: {
    rows: (from) => `${from("fct_message")} WHERE is_between_people AND (direction IS NULL OR sent_at IS NULL)`,
    thing: "message",
    of: "direction or time"
  },
  whether: "a contact asked a question in the last 13 months",
  find: Effect.fn("report.replies")(function* ({ from, metric, rowsSql, tile, months, since, lastMonth, leftOut }) {
    const [received, answered, median] = [metric("questions"), metric("replies"), metric("median_reply_minutes")]
    const { day, model } = median
    const found = yield* query(
      { month: String, questions: Number, replied: Number, minutes: numberOf, business: numberOf },
      `SELECT month, ${received.sql} AS questions, ${answered.sql} AS replied,
         ${median.sql}::DOUBLE AS minutes, ${metric("median_reply_business_minutes").sql}::DOUBLE AS business
       FROM ${inMonths(from(model), day, months)} GROUP BY ALL`
    )
    const rows = inEach(months, found, { questions: 0, replied: 0, minutes: undefined, business: undefined })
    const last = lastWhole(rows)
    const questions = sumOf(rows, (row) => row.questions)
    const replied = sumOf(rows, (row) => row.replied)
    const came =
      last.minutes === undefined
        ? `No question of ${lastMonth} was answered.`
        : `In ${lastMonth}, half of the answers came within ${time(last.minutes)}.`
    return {
      figures: [tile(median, time(last.minutes), `in ${lastMonth}`, during(day, lastWhole(months)))],
      rows: rowsSql(received, duringAll(day, months)),
      isEmpty: questions === 0,
      lead: `${share(replied, questions)} of ${counted(questions, "question")} since ${since} were answered. ${came} A question is the first of consecutive messages of a contact; business hours are Monday to Friday, 9:00 to 17:00, in the time zone of the location.${leftOut}`,
      content:
        replied === 0
          ? undefined
          : monthlyLines(rows, {
              title: "Median time to the first reply by month",
              description: `In ${lastMonth}, ${time(last.minutes)}; within business hours, ${time(last.business)}.`,
              unit: "Median hours to the first reply, by the month of the question",
              say: (value) => time(value * 60),
              lines: [
                ["All hours", (row) => hours(row.minutes)],
                ["Business hours", (row) => hours(row.business)]
              ],
              numbers: {
                id: "replies-by-month",
                caption: "Questions and the median time to their reply by month",
                behind: (row) => during(day, row.month),
                columns: [
                  number("Questions", (row) => row.questions),
                  number("Answered", (row) => share(row.replied, row.questions), answered.condition),
                  number("Median", (row) => time(row.minutes), answered.condition),
                  number("Median, business hours", (row) => time(row.business), answered.condition)
                ]
              }
            })
    }
  })
}

const time = (minutes: number | undefined): string => (minutes === undefined ? "–" : duration(minutes * 60_000))
const hours = (minutes: number | undefined) => (minutes === undefined ? undefined : minutes / 60)
