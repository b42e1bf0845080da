/** Sections: the open opportunities by stage, and those that were won and lost. */
import * as Effect from "effect/Effect"
import { type Row, Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { legend, lines, ticksOf } from "../../../values/charts.ts"
import { brief, count, counted, money, moneyBrief, share } from "../format.ts"
import { month } from "../../../values/moment.ts"
import { html } from "../../../values/html.ts"
import { ownName } from "../mask.ts"
import { distinctNames } from "../../../values/names.ts"
import { bar, numbersOf, section, tableOf } from "../table.ts"
import { currencyOf, moreOf, oneAtATime, statedAll } from "./currencies.ts"
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
  make: Effect.fn("report.pipeline")(function* ({ placeOf, unknown }) {
    const warehouse = yield* Warehouse
    const totals = yield* warehouse.rows(
      `SELECT currency, count(*) AS deals, coalesce(sum(monetary_value), 0) AS amount FROM bi.fct_opportunity
       WHERE is_open GROUP BY ALL ORDER BY deals DESC, currency`
    )
    const found = yield* warehouse.rows(
      `FROM (SELECT location_id, pipeline_id, pipeline_name, pipeline_stage_name, stage_position, currency, count(*) AS deals,
           coalesce(sum(monetary_value), 0) AS amount
         FROM bi.fct_opportunity WHERE is_open GROUP BY ALL)
       QUALIFY row_number() OVER (PARTITION BY currency ORDER BY amount DESC, deals DESC, location_id, pipeline_id, stage_position) <= ${stagesMax}
       ORDER BY ALL`
    )
    const idOf = (row: Row) => `${row["location_id"]}/${row["pipeline_id"]}`
    const pipelines = new Map(found.map((row) => [idOf(row), row]))
    const names = distinctNames(
      Array.from(pipelines, ([id, row]) => ({
        id,
        name: ownName(String(row["pipeline_name"] ?? "unknown")),
        place: placeOf(String(row["location_id"]))
      }))
    )
    const stages = found.map((row) => ({
      pipeline: names.get(idOf(row))!,
      stage: ownName(String(row["pipeline_stage_name"] ?? "unknown")),
      position: Number(row["stage_position"] ?? 0),
      currency: currencyOf(row),
      deals: Number(row["deals"]),
      amount: Number(row["amount"])
    }))
    const open = totals.map((row) => ({
      currency: currencyOf(row),
      deals: Number(row["deals"]),
      amount: Number(row["amount"])
    }))
    const deals = open.reduce((sum, one) => sum + one.deals, 0)
    return {
      figures: open.slice(0, 1).map((one) => ({
        title: "Open pipeline",
        value: moneyBrief(one.amount, one.currency),
        note: `${counted(one.deals, "opportunity", "opportunities")}${one.currency === undefined ? ", currency not stated" : ""}`
      })),
      content: section({
        id: "pipeline",
        title: "Pipeline by stage",
        lead:
          deals === 0
            ? noneText("No opportunity is open.", "an opportunity is open", unknown, deal)
            : `${counted(deals, "opportunity is", "opportunities are")} open, worth ${statedAll(open)}.${moreOf(open)}${stages.length >= stagesMax ? ` At most ${stagesMax} stages of a currency are shown, those with the highest value.` : ""}${leftOut(unknown, deal)}`,
        content: oneAtATime(
          open,
          (one) => `${counted(one.deals, "opportunity", "opportunities")}, ${money(one.amount, one.currency)}`,
          ({ currency }, suffix) =>
            stagesTable(
              stages.filter((one) => one.currency === currency),
              `stages${suffix}`
            )
        )
      })
    }
  })
}

interface Stage {
  readonly pipeline: string
  readonly stage: string
  readonly position: number
  readonly currency: string | undefined
  readonly deals: number
  readonly amount: number
}

/** The pipelines with the highest value first, and their stages in order. */
const stagesTable = (stages: ReadonlyArray<Stage>, id: string) => {
  const amountOf = (pipeline: string) =>
    stages.reduce((sum, one) => sum + (one.pipeline === pipeline ? one.amount : 0), 0)
  const highest = Math.max(0, ...stages.map(({ amount }) => amount))
  return tableOf({
    id,
    caption: "Open opportunities by stage",
    rows: stages.toSorted(
      (one, other) =>
        amountOf(other.pipeline) - amountOf(one.pipeline) ||
        (one.pipeline < other.pipeline ? -1 : one.pipeline > other.pipeline ? 1 : one.position - other.position)
    ),
    folded: 15,
    columns: [
      { head: "Pipeline", cell: ({ pipeline }) => pipeline },
      { head: "Stage", cell: ({ stage }) => stage },
      { head: "Open", kind: "number", cell: (one) => count(one.deals) },
      { head: "Value", kind: "number", cell: (one) => money(one.amount, one.currency) },
      { head: "Share of the highest", kind: "chart", cell: ({ amount }) => bar(amount, highest) }
    ]
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
  week: {
    thing: "opportunity won",
    things: "opportunities won",
    rows: "SELECT closed_local_date AS day, currency, monetary_value AS amount FROM bi.fct_opportunity WHERE is_won"
  },
  make: Effect.fn("report.outcomes")(function* ({ months, unknown }) {
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
