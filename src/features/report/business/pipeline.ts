/** Section: the open opportunities by stage. */
import * as Effect from "effect/Effect"
import { counted, money } from "../format.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { numbers } from "../../../values/rows.ts"
import { ownName } from "../mask.ts"
import { bars, number, sumOf, tableOf, text } from "../../../pages/html-table.ts"
import { amountTile, currency, isIn, moreOf, oneAtATime, statedAll } from "./currencies.ts"
import { literal, numberOf } from "../../../stores/warehouse/sql.ts"
import { type Topic, named } from "./topic.ts"

/** Stages that are shown, those with the highest value. */
const stagesMax = 40

const opportunities = (n: number) => counted(n, "opportunity", "opportunities")

export const pipelineTopic: Topic = {
  id: "pipeline",
  title: "Pipeline by stage",
  models: ["fct_opportunity"],
  resources: ["opportunities"],
  unknown: {
    rows: (from) => `${from("fct_opportunity")} WHERE is_open IS NULL`,
    thing: "opportunity",
    things: "opportunities",
    of: "status",
    amount: "monetary_value"
  },
  whether: "an opportunity is open",
  find: Effect.fn("report.pipeline")(function* (context) {
    const { from, group, leftOut, metric, rowsSql } = context
    const [opened, worth] = [metric("open_opportunities"), metric("open_pipeline")]
    const rows = `${from(worth.model)} WHERE ${worth.condition}`
    const open = yield* query(
      { currency, deals: Number, amount: Number },
      `SELECT currency, ${opened.value} AS deals, ${worth.value} AS amount FROM ${rows} GROUP BY ALL ORDER BY deals DESC, currency`
    )
    const found = yield* query(
      {
        location: String,
        id: String,
        name: ownName,
        stage: ownName,
        currency,
        position: numberOf,
        ...numbers("deals", "amount")
      },
      `FROM (SELECT location_id AS location, pipeline_id AS id, pipeline_name AS name, pipeline_stage_name AS stage,
           stage_position AS position, currency, ${opened.value} AS deals, coalesce(${worth.value}, 0) AS amount
         FROM ${rows} GROUP BY ALL)
       QUALIFY row_number() OVER (PARTITION BY currency ORDER BY amount DESC, deals DESC, location, id, position) <= ${stagesMax}
       ORDER BY ALL`
    )
    const stages = named(found)
    const most =
      stages.length >= stagesMax
        ? ` At most ${stagesMax} stages of a currency are shown, those with the highest value.`
        : ""
    return {
      figures: open.slice(0, 1).map((one) => amountTile(context, worth, one, opportunities(one.deals))),
      isEmpty: open.length === 0,
      rows: rowsSql(worth),
      lead: `${counted(
        sumOf(open, ({ deals }) => deals),
        "opportunity is",
        "opportunities are"
      )} open, worth ${statedAll(open)}.${moreOf(open)}${most}${leftOut}`,
      content: oneAtATime(
        open,
        (one) => `${opportunities(one.deals)}, ${money(one.amount, one.currency)}`,
        ({ currency }, suffix) => {
          const own = stages.filter((stage) => stage.currency === currency)
          return tableOf(inOrder(own), {
            id: `stages${suffix}`,
            caption: "Open opportunities by stage",
            folded: 15,
            group,
            behind: (stage) => `${isOf(stage)} AND ${isIn(currency)}`,
            columns: [
              text("Pipeline", ({ name }) => name),
              text("Stage", ({ stage }) => stage),
              number("Open", ({ deals }) => deals),
              number("Value", ({ amount }) => money(amount, currency)),
              bars("Share of the highest", own, ({ amount }) => amount)
            ]
          })
        }
      )
    }
  })
}

/** SQL: the opportunities of a stage; one that is deleted has no position. */
const isOf = ({ id, location, position }: Stage) =>
  `location_id = ${literal(location)} AND ${
    position === undefined ? "stage_position IS NULL" : `pipeline_id = ${literal(id)} AND stage_position = ${position}`
  }`

interface Stage {
  readonly location: string
  readonly id: string
  readonly name: string
  readonly position: number | undefined
  readonly amount: number
}

/** The locations, and in each the pipelines, with the highest value first, and their stages in order. */
const inOrder = <One extends Stage>(stages: ReadonlyArray<One>): ReadonlyArray<One> =>
  largestFirst(stages, ({ location }) => location)
    .flatMap((own) => largestFirst(own, ({ name }) => name))
    .flatMap((own) => own.toSorted((one, other) => (one.position ?? 0) - (other.position ?? 0)))

const largestFirst = <One extends Stage>(stages: ReadonlyArray<One>, of: (one: One) => string) =>
  Array.from(Map.groupBy(stages, of).values()).toSorted(
    (one, other) => sumOf(other, ({ amount }) => amount) - sumOf(one, ({ amount }) => amount)
  )
