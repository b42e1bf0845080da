/** Sections: payments and recurring revenue by month, one chart for each currency. */
import * as Effect from "effect/Effect"
import { itemAt } from "../../../catalog/present.ts"
import { columns, ticksOf } from "../../../pages/charts.ts"
import { brief, count, counted, money } from "../format.ts"
import { html, month } from "../../../pages/html.ts"
import { query, queryRow } from "../../../stores/warehouse/query.ts"
import { number } from "../../../pages/html-table.ts"
import { amountTile, currency, isIn, moreOf, oneAtATime, statedAll } from "./currencies.ts"
import { during, duringAll, inEach, inMonths, lastWhole, numbersByMonth } from "./months.ts"
import type { Metric } from "../../../stages/publish/models/metrics.ts"
import type { Context, Topic } from "./topic.ts"

/** The currency with the most rows comes first. */
const byCurrency = Effect.fnUntraced(function* ({ from, months }: Context, of: Metric) {
  const rows = yield* query(
    { code: String, currency, month: String, amount: Number, n: Number },
    `SELECT *, sum(n) OVER (PARTITION BY currency) AS weight FROM (
       SELECT currency AS code, currency, month, ${of.value} AS amount, count(*) AS n
       FROM ${inMonths(`${from(of.model)} WHERE ${of.condition}`, of.day, months)} GROUP BY ALL)
     ORDER BY weight DESC, currency, month`
  )
  return Array.from(Map.groupBy(rows, ({ code }) => code).values(), (own) => {
    const first = itemAt(own, 0)
    const byMonth = inEach(months, own, { ...first, amount: 0, n: 0 })
    // The amount is that of the last whole month.
    return { currency: first.currency, amount: lastWhole(byMonth).amount, byMonth }
  })
})

type InCurrency = Effect.Success<ReturnType<typeof byCurrency>>[number]

const tilesOf = (found: ReadonlyArray<InCurrency>, context: Context, of: Metric) => {
  const { lastMonth, months } = context
  return found
    .slice(0, 1)
    .map((one) => amountTile(context, of, one, `in ${lastMonth}`, during(of.day, lastWhole(months))))
}

/** `name`: what the amounts are; `things`: the rows that they are the sum of. */
const chartsOf = (
  found: ReadonlyArray<InCurrency>,
  { months, lastMonth }: Context,
  { day }: Metric,
  of: { readonly name: string; readonly id: string; readonly things: string }
) =>
  oneAtATime(
    found,
    (one) => `${money(one.amount, one.currency)} in ${lastMonth}`,
    ({ currency, amount, byMonth }, suffix) =>
      html`${columns(
        byMonth.map((row) => ({ text: `${month(row.month)}: ${money(row.amount, currency)}`, value: row.amount })),
        {
          title: `${of.name} by month${currency === undefined ? "" : ` in ${currency}`}`,
          description: `In ${lastMonth}, ${money(amount, currency)}.`,
          unit: `${currency ?? "Currency not stated"}, by month`,
          isPartial: true,
          format: brief,
          ticks: ticksOf(months.map(month), "columns")
        }
      )}
      ${numbersByMonth(byMonth, {
        id: `${of.id}${suffix}`,
        caption: `${of.name} by month`,
        behind: ({ month: own }) => `${during(day, own)} AND ${isIn(currency)}`,
        columns: [number(currency ?? "Amount", (row) => money(row.amount, undefined)), number(of.things, ({ n }) => n)]
      })}`
  )

export const revenueTopic: Topic = {
  id: "revenue",
  title: "Revenue",
  models: ["fct_revenue", "fct_payment"],
  resources: ["transactions"],
  unknown: {
    rows: (from) =>
      `${from("fct_payment")} WHERE is_live AND (is_succeeded IS NULL OR (is_succeeded AND (paid_local_date IS NULL OR amount IS NULL)))`,
    thing: "payment",
    of: "status, day or amount",
    amount: "amount"
  },
  whether: "a live payment succeeded in the last 13 months",
  week: {
    thing: "payment received",
    things: "payments received",
    count: "payments_received",
    amount: "received"
  },
  find: Effect.fn("report.revenue")(function* (context) {
    const { lastMonth, leftOut, metric, months, rowsSql } = context
    const revenue = metric("revenue")
    const found = yield* byCurrency(context, revenue)
    return {
      figures: tilesOf(found, context, revenue),
      rows: rowsSql(revenue, duringAll(revenue.day, months)),
      isEmpty: found.length === 0,
      lead: `What came in less what went back, without tests: ${statedAll(found)} in ${lastMonth}. A refund counts on the day on which it was seen.${moreOf(found)}${leftOut}`,
      content: chartsOf(found, context, revenue, {
        name: "Revenue",
        id: "revenue-by-month",
        things: "Payments and refunds"
      })
    }
  })
}

export const recurringTopic: Topic = {
  id: "recurring",
  title: "Recurring revenue",
  models: ["fct_subscription_month"],
  resources: ["subscriptions"],
  unknown: {
    rows: (from) =>
      `(FROM ${from("fct_subscription_month")} WHERE is_live AND counts_as IS NULL
        QUALIFY row_number() OVER (PARTITION BY location_id, subscription_id ORDER BY month_start DESC) = 1)`,
    thing: "subscription",
    of: "status",
    amount: "price_per_month"
  },
  whether: "a subscription was paid for in the last 13 months",
  find: Effect.fn("report.recurring")(function* (context) {
    const { from, lastMonth, leftOut, metric, months, rowsSql } = context
    const recurring = metric("monthly_recurring")
    const [begins, ends, tries] = [metric("subscriptions_begun"), metric("subscriptions_ended"), metric("trials")]
    const found = yield* byCurrency(context, recurring)
    const isLast = `month = '${lastWhole(months)}'`
    const { begun, cancelled, trials, withoutInterval } = yield* queryRow(
      { begun: Number, cancelled: Number, trials: Number, withoutInterval: Number },
      `SELECT ${begins.value} FILTER (${begins.condition} AND ${isLast}) AS begun,
         ${ends.value} FILTER (${ends.condition} AND ${isLast}) AS cancelled,
         ${tries.value} FILTER (${tries.condition} AND ${isLast}) AS trials,
         count(DISTINCT (location_id, subscription_id)) FILTER (${recurring.condition} AND monthly_amount IS NULL) AS withoutInterval
       FROM ${inMonths(from(recurring.model), recurring.day, months)}`
    )
    const notIncluded =
      withoutInterval === 0
        ? ""
        : ` ${counted(withoutInterval, "subscription")} without an interval ${withoutInterval === 1 ? "is" : "are"} not included in the amounts.`
    const inTrial = trials === 0 ? "" : ` ${counted(trials, "trial adds", "trials add")} nothing.`
    return {
      figures: tilesOf(found, context, recurring),
      rows: rowsSql(recurring, duringAll(recurring.day, months)),
      isEmpty: found.length === 0,
      lead: `In ${lastMonth}, ${counted(begun, "subscription")} began and ${count(cancelled)} ended.${inTrial}${notIncluded}${moreOf(found)}${leftOut}`,
      content: chartsOf(found, context, recurring, {
        name: "Monthly recurring revenue",
        id: "recurring-by-month",
        things: "Subscriptions"
      })
    }
  })
}
