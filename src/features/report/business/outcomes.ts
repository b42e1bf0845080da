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
  whether: "an opportunity was won or lost in the last 13 months",
  week: {
    thing: "opportunity won",
    things: "opportunities won",
    count: "won",
    amount: "won_value"
  },
  find: Effect.fn("report.outcomes")(function* ({ from, metric, rowsSql, tile, months, since, lastMonth, leftOut }) {
    const [isWon, isLost] = [metric("won"), metric("lost")]
    const { day, model } = isWon
    const found = yield* query(
      { month: String, won: Number, lost: Number },
      `SELECT month, ${isWon.sql} AS won, ${isLost.sql} AS lost FROM ${inMonths(from(model), day, months)} GROUP BY ALL`
    )
    const rows = inEach(months, found, { won: 0, lost: 0 })
    const last = lastWhole(rows)
    const won = sumOf(rows, (row) => row.won)
    const lost = sumOf(rows, (row) => row.lost)
    const closed = won + lost
    return {
      figures: [
        tile(isWon, count(last.won), `in ${lastMonth}; ${count(last.lost)} lost`, during(day, lastWhole(months)))
      ],
      rows: rowsSql({ model, where: [] }, duringAll(day, months)),
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
          behind: (row) => during(day, row.month),
          columns: [
            number("Won", (row) => row.won, isWon.condition),
            number("Lost", (row) => row.lost, isLost.condition),
            number("Won, share", (row) => share(row.won, row.won + row.lost), isWon.condition)
          ]
        }
      })
    }
  })
}
