/** Sections: the open opportunities by stage, and those that were won and lost. */
import * as Effect from "effect/Effect"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { legend, lines, ticksOf } from "../charts.ts"
import { brief, count, counted, money, month, share } from "../format.ts"
import { html } from "../../../values/html.ts"
import { ownName } from "../mask.ts"
import { bar, numbersOf, section, tableOf } from "../table.ts"
import { type TopicDefinition, inMonths, lastWhole, leftOut, monthSql, noneText } from "./figures.ts"

/** Stages that are shown, those with the highest value. */
const stagesMax = 40

const deal = { thing: "opportunity", things: "opportunities", of: "status" }

export const pipelineTopic: TopicDefinition = {
  id: "pipeline",
  title: "Pipeline by stage",
  models: ["fct_opportunity"],
  resources: ["opportunities"],
  unknown: "SELECT count(*) FROM bi.fct_opportunity WHERE is_open IS NULL",
  make: Effect.fn("report.pipeline")(function* (_months, unknown) {
    const warehouse = yield* Warehouse
    const found = yield* warehouse.rows(
      `SELECT pipeline_name, pipeline_stage_name, stage_position, currency, count(*) AS deals, coalesce(sum(opportunity_value), 0) AS amount
       FROM bi.fct_opportunity WHERE is_open GROUP BY ALL ORDER BY amount DESC, deals DESC, pipeline_name, stage_position, pipeline_stage_name, currency LIMIT ${stagesMax}`
    )
    const totals = yield* warehouse.rows(
      "SELECT currency, count(*) AS deals, coalesce(sum(opportunity_value), 0) AS amount FROM bi.fct_opportunity WHERE is_open GROUP BY ALL ORDER BY amount DESC, currency LIMIT 5"
    )
    const stages = found.map((row) => ({
      pipeline: ownName(String(row["pipeline_name"] ?? "unknown")),
      stage: ownName(String(row["pipeline_stage_name"] ?? "unknown")),
      position: Number(row["stage_position"] ?? 0),
      currency: textOf(row["currency"]),
      deals: Number(row["deals"]),
      amount: Number(row["amount"])
    }))
    const amountOf = (pipeline: string) =>
      stages.reduce((sum, one) => sum + (one.pipeline === pipeline ? one.amount : 0), 0)
    const sorted = stages.toSorted(
      (one, other) =>
        amountOf(other.pipeline) - amountOf(one.pipeline) ||
        (one.pipeline < other.pipeline ? -1 : one.pipeline > other.pipeline ? 1 : one.position - other.position)
    )
    const highest = Math.max(0, ...stages.map(({ amount }) => amount))
    const open = totals.map((row) => ({
      currency: textOf(row["currency"]),
      deals: Number(row["deals"]),
      amount: Number(row["amount"])
    }))
    const deals = open.reduce((sum, one) => sum + one.deals, 0)
    return {
      figures: open.slice(0, 1).map(({ currency, amount }) => ({
        title: "Open pipeline",
        value: `${currency ?? ""} ${brief(amount)}`.trim(),
        note: counted(deals, "opportunity", "opportunities")
      })),
      content: section({
        id: "pipeline",
        title: "Pipeline by stage",
        lead:
          deals === 0
            ? noneText("No opportunity is open.", "an opportunity is open", unknown, deal)
            : `${counted(deals, "opportunity is", "opportunities are")} open, worth ${open.map((one) => money(one.amount, one.currency)).join(" and ")}.${stages.length === stagesMax ? ` The ${stagesMax} stages with the highest value are shown.` : ""}${leftOut(unknown, deal)}`,
        content:
          deals === 0
            ? undefined
            : tableOf({
                id: "stages",
                caption: "Open opportunities by stage, in the currency of the account",
                rows: sorted,
                folded: 15,
                columns: [
                  { head: "Pipeline", cell: ({ pipeline }) => pipeline },
                  { head: "Stage", cell: ({ stage }) => stage },
                  { head: "Open", kind: "number", cell: (one) => count(one.deals) },
                  { head: "Value", kind: "number", cell: (one) => money(one.amount, one.currency) },
                  { head: "Share of the highest", kind: "chart", cell: ({ amount }) => bar(amount, highest) }
                ]
              })
      })
    }
  })
}

const outcome = { ...deal, of: "status or day of closing" }

export const outcomeTopic: TopicDefinition = {
  id: "outcomes",
  title: "Won and lost",
  models: ["fct_opportunity"],
  resources: ["opportunities"],
  unknown:
    "SELECT count(*) FROM bi.fct_opportunity WHERE is_won IS NULL OR ((is_won OR is_lost) AND closed_local_date IS NULL)",
  make: Effect.fn("report.outcomes")(function* (months, unknown) {
    const found = yield* (yield* Warehouse).rows(
      `SELECT ${monthSql("closed_local_date")} AS month, count(*) FILTER (is_won) AS won, count(*) FILTER (is_lost) AS lost
       FROM bi.fct_opportunity WHERE ${inMonths("closed_local_date", months)} GROUP BY ALL`
    )
    const rows = months.map((one) => {
      const row = found.find((candidate) => candidate["month"] === one)
      return { month: one, won: Number(row?.["won"] ?? 0), lost: Number(row?.["lost"] ?? 0) }
    })
    const [won, lost] = [rows.reduce((sum, one) => sum + one.won, 0), rows.reduce((sum, one) => sum + one.lost, 0)]
    const whole = rows.find((one) => one.month === lastWhole(months))!
    const points = (key: "won" | "lost") => rows.map((row, index) => ({ x: index / (rows.length - 1), y: row[key] }))
    const series = [
      { name: "Won", kind: "line", points: points("won") },
      { name: "Lost", kind: "second", points: points("lost") }
    ] as const
    return {
      figures: [
        {
          title: "Won",
          value: count(whole.won),
          note: `in ${month(whole.month)}; ${count(whole.lost)} lost`
        }
      ],
      content: section({
        id: "outcomes",
        title: "Won and lost",
        lead:
          won + lost === 0
            ? noneText(
                "No opportunity was won or lost in the last 13 months.",
                "an opportunity was won or lost in the last 13 months",
                unknown,
                outcome
              )
            : `${counted(won, "opportunity", "opportunities")} won and ${count(lost)} lost since ${month(months[0]!)}: ${share(won, won + lost)} won.${leftOut(unknown, outcome)}`,
        content:
          won + lost === 0
            ? undefined
            : html`${lines(series, {
                title: "Opportunities won and lost by month",
                description: `In ${month(whole.month)}, ${count(whole.won)} were won and ${count(whole.lost)} lost.`,
                unit: "Opportunities by the month in which they were closed; the last month is not over",
                format: brief,
                ticks: ticksOf(months.map(month), "points")
              })}
              ${legend(series)}
              ${numbersOf({
                id: "outcomes-by-month",
                caption: "Opportunities by the month in which they were closed",
                rows,
                columns: [
                  { head: "Month", cell: (row) => month(row.month) },
                  { head: "Won", kind: "number", cell: (row) => count(row.won) },
                  { head: "Lost", kind: "number", cell: (row) => count(row.lost) },
                  { head: "Won, share", kind: "number", cell: (row) => share(row.won, row.won + row.lost) }
                ]
              })}`
      })
    }
  })
}

const textOf = (value: unknown): string | undefined =>
  value === null || value === "" ? undefined : ownName(String(value))
