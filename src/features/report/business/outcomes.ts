/** Section: the opportunities that were won and lost. */
import * as Effect from "effect/Effect"
import { count, counted, share } from "../format.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { number, sumOf } from "../../../pages/html-table.ts"
import { during, duringAll, inEach, inMonths, lastWhole, monthlyLines } from "./months.ts"
import type { Topic } from "./topic.ts"

export const outcomeTopic: Topic = {
  id: "outcomes",
  title: "Won and lost",
  models: ["fct_opportunity"],
  resources: ["opportunities"],
  unknown: {
    rows: (from) =>
      `${from("fct_opportunity")} WHERE is_won IS NULL OR ((is_won OR is_lost) AND closed_local_date IS NULL)`,
    thing: "opportunity",
    things: "opportunities",
    of: "status or day of closing"
  },
  none: "No opportunity was won or lost in the last 13 months.",
  whether: "an opportunity was won or lost in the last 13 months",
  week: {
    thing: "opportunity won",
    things: "opportunities won",
    model: "fct_opportunity",
    where: "is_won",
    day: "closed_local_date",
    currency: "currency",
    amount: "monetary_value"
  },
  find: Effect.fn("report.outcomes")(function* ({ from, rowsSql, months, since, lastMonth, leftOut }) {
    const found = yield* query(
      { month: String, won: Number, lost: Number },
      `SELECT month, count(*) FILTER (is_won) AS won, count(*) FILTER (is_lost) AS lost
       FROM ${inMonths(from("fct_opportunity"), "closed_local_date", months)} GROUP BY ALL`
    )
    const rows = inEach(months, found, { won: 0, lost: 0 })
    const last = rows.at(-2)!
    const won = sumOf(rows, (row) => row.won)
    const lost = sumOf(rows, (row) => row.lost)
    const closed = won + lost
    return {
      figures: [
        {
          title: "Won",
          value: count(last.won),
          note: `in ${lastMonth}; ${count(last.lost)} lost`,
          rows: rowsSql("fct_opportunity", "is_won", during("closed_local_date", lastWhole(months)))
        }
      ],
      rows: rowsSql("fct_opportunity", duringAll("closed_local_date", months)),
      isEmpty: closed === 0,
      lead: `${counted(won, "opportunity", "opportunities")} won and ${count(lost)} lost since ${since}: ${share(won, closed)} won.${leftOut}`,
      content: monthlyLines(rows, {
        title: "Opportunities won and lost by month",
        description: `In ${lastMonth}, ${count(last.won)} were won and ${count(last.lost)} lost.`,
        unit: "Opportunities by the month in which they were closed",
        say: count,
        lines: [
          ["Won", (row) => row.won],
          ["Lost", (row) => row.lost]
        ],
        numbers: {
          id: "outcomes-by-month",
          caption: "Opportunities by the month in which they were closed",
          behind: (row) => during("closed_local_date", row.month),
          columns: [
            number("Won", (row) => row.won, "is_won"),
            number("Lost", (row) => row.lost, "is_lost"),
            number("Won, share", (row) => share(row.won, row.won + row.lost), "is_won")
          ]
        }
      })
    }
  })
}
