/** Section: calls by month, and how many were answered. */
import * as Effect from "effect/Effect"
import { count, counted, duration, share } from "../format.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { numbers } from "../../../values/rows.ts"
import { number, sumOf } from "../../../pages/html-table.ts"
import { during, duringAll, inEach, inMonths, monthlyLines, lastWhole } from "./months.ts"
import type { Topic } from "./topic.ts"

export const callTopic: Topic = {
  id: "calls",
  title: "Calls",
  models: ["fct_call"],
  resources: ["messages"],
  unknown: { rows: (from) => `${from("fct_call")} WHERE sent_at IS NULL`, thing: "call", of: "time" },
  whether: "there was a call in the last 13 months",
  find: Effect.fn("report.calls")(function* ({ from, metric, rowsSql, months, since, lastMonth, leftOut }) {
    const [made, taken, left] = [metric("calls"), metric("answered_calls"), metric("voicemails")]
    const found = yield* query(
      { month: String, ...numbers("calls", "answered", "known", "voicemails", "seconds") },
      `SELECT month, ${made.sql} AS calls, ${taken.sql} AS answered, count(is_answered) AS known,
         ${left.sql} AS voicemails, coalesce(${metric("answered_seconds").sql}, 0) AS seconds
       FROM ${inMonths(from(made.model), made.day, months)} GROUP BY ALL`
    )
    const rows = inEach(months, found, { calls: 0, answered: 0, known: 0, voicemails: 0, seconds: 0 })
    const last = lastWhole(rows)
    const calls = sumOf(rows, (row) => row.calls)
    const answered = sumOf(rows, (row) => row.answered)
    const known = sumOf(rows, (row) => row.known)
    const unknown = calls - known
    return {
      figures: [],
      rows: rowsSql(made, duringAll(made.day, months)),
      isEmpty: calls === 0,
      lead: `${counted(calls, "call")} since ${since}${known === 0 ? "" : `, of which ${share(answered, known)} were answered`}.${
        unknown > 0 ? ` Of ${counted(unknown, "call")} it is not known.` : ""
      }${leftOut}`,
      content: monthlyLines(rows, {
        title: "Calls by month",
        description: `In ${lastMonth}, ${counted(last.calls, "call")}, of which ${count(last.answered)} were answered.`,
        unit: "Calls by month, and those that were answered",
        say: count,
        lines: [
          ["All", (row) => row.calls],
          ["Answered", (row) => row.answered]
        ],
        numbers: {
          id: "calls-by-month",
          caption: "Calls by month",
          behind: (row) => during(made.day, row.month),
          columns: [
            number("Calls", (row) => row.calls),
            number("Answered", (row) => row.answered, taken.condition),
            number("Answered, share", (row) => share(row.answered, row.known), taken.condition),
            number("Voicemails", (row) => row.voicemails, left.condition),
            number(
              "Time of those answered",
              (row) => (row.seconds === 0 ? "–" : duration(row.seconds * 1000)),
              taken.condition
            )
          ]
        }
      })
    }
  })
}
