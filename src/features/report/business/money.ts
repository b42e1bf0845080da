/** Sections: payments and recurring revenue by month, one chart for each currency. */
import * as Effect from "effect/Effect"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { columns, ticksOf } from "../../../values/charts.ts"
import { brief, count, counted, money, moneyBrief } from "../format.ts"
import { month } from "../../../values/moment.ts"
import { type Html, html } from "../../../values/html.ts"
import { numbersOf, section } from "../table.ts"
import { currencyOf, moreOf, oneAtATime, statedAll } from "./currencies.ts"
import { type Months, type TopicDefinition, inMonths, lastWhole, leftOut, monthSql, noneText } from "./figures.ts"

interface ByMonth {
  readonly currency: string | undefined
  readonly amounts: ReadonlyArray<number>
  readonly counts: ReadonlyArray<number>
}

/** `sql`: a relation with month, currency, amount and n. The currency with the most rows comes first. */
const byCurrency = Effect.fnUntraced(function* (sql: string, months: Months) {
  const rows = yield* (yield* Warehouse).rows(
    `SELECT currency, month, sum(amount) AS amount, sum(n)::BIGINT AS n, sum(sum(n)) OVER (PARTITION BY currency) AS weight
     FROM (${sql}) GROUP BY currency, month ORDER BY weight DESC, currency, month`
  )
  return Array.from(
    Map.groupBy(rows, ({ currency }) => currency),
    ([, own]) => {
      const of = (month: string) => own.find((row) => row["month"] === month)
      return {
        currency: currencyOf(own[0]!),
        amounts: months.map((month) => Number(of(month)?.["amount"] ?? 0)),
        counts: months.map((month) => Number(of(month)?.["n"] ?? 0))
      }
    }
  )
})

const inLastWhole = ({ amounts, currency }: ByMonth) => ({ amount: amounts.at(-2)!, currency })

const figuresOf = (found: ReadonlyArray<ByMonth>, months: Months, title: string) =>
  found.slice(0, 1).map(({ currency, amounts }) => ({
    title,
    value: moneyBrief(amounts.at(-2)!, currency),
    note: `in ${month(lastWhole(months))}${currency === undefined ? ", currency not stated" : ""}`
  }))

/** `of`: what the amounts are, and the rows that they are the sum of. */
const chartsOf = (
  found: ReadonlyArray<ByMonth>,
  months: Months,
  of: { readonly what: string; readonly id: string; readonly counts: string }
): Html =>
  oneAtATime(
    found,
    (one) => `${money(inLastWhole(one).amount, one.currency)} in ${month(lastWhole(months))}`,
    ({ currency, amounts, counts }, suffix) =>
      html`${columns(
        amounts.map((value, index) => ({ text: `${month(months[index]!)}: ${money(value, currency)}`, value })),
        {
          title: `${of.what} by month${currency === undefined ? "" : ` in ${currency}`}`,
          description: `In ${month(lastWhole(months))}, ${money(amounts.at(-2)!, currency)}.`,
          unit: `${currency ?? "Currency not stated"}, by month; the last month is not over`,
          format: brief,
          ticks: ticksOf(months.map(month), "columns")
        }
      )}
      ${numbersOf({
        id: `${of.id}${suffix}`,
        caption: `${of.what} by month`,
        rows: months.map((one, index) => ({ one, index })),
        columns: [
          { head: "Month", cell: ({ one }) => month(one) },
          { head: currency ?? "Amount", kind: "number", cell: ({ index }) => money(amounts[index]!, undefined) },
          { head: of.counts, kind: "number", cell: ({ index }) => count(counts[index]!) }
        ]
      })}`
  )

const payment = { thing: "payment", of: "status, day or amount" }

export const revenueTopic: TopicDefinition = {
  id: "revenue",
  title: "Revenue",
  models: ["fct_payment"],
  resources: ["transactions"],
  unknown:
    "SELECT count(*) FROM bi.fct_payment WHERE is_live AND (is_succeeded IS NULL OR (is_succeeded AND (paid_local_date IS NULL OR net_amount IS NULL)))",
  week: {
    thing: "payment received",
    things: "payments received",
    rows: "SELECT paid_local_date AS day, currency, net_amount AS amount FROM bi.fct_payment WHERE is_live AND is_succeeded"
  },
  make: Effect.fn("report.revenue")(function* ({ months, unknown }) {
    const found = yield* byCurrency(
      `SELECT ${monthSql("paid_local_date")} AS month, currency, sum(net_amount) AS amount, count(*) AS n FROM bi.fct_payment
       WHERE is_live AND is_succeeded AND ${inMonths("paid_local_date", months)} GROUP BY ALL`,
      months
    )
    return {
      figures: figuresOf(found, months, "Revenue"),
      content: section({
        id: "revenue",
        title: "Revenue",
        lead:
          found.length === 0
            ? noneText(
                "No live payment succeeded in the last 13 months.",
                "a live payment succeeded in the last 13 months",
                unknown,
                payment
              )
            : `Payments that succeeded, without refunds and tests: ${statedAll(found.map(inLastWhole))} in ${month(lastWhole(months))}.${moreOf(found)}${leftOut(unknown, payment)}`,
        content: chartsOf(found, months, { what: "Revenue", id: "revenue-by-month", counts: "Payments" })
      })
    }
  })
}

const subscription = { thing: "subscription", of: "status" }

export const recurringTopic: TopicDefinition = {
  id: "recurring",
  title: "Recurring revenue",
  models: ["fct_subscription_month"],
  resources: ["subscriptions"],
  unknown:
    "SELECT count(DISTINCT subscription_id) FROM bi.fct_subscription_month WHERE is_live AND subscription_status = 'unknown'",
  make: Effect.fn("report.recurring")(function* ({ months, unknown: noStatus }) {
    const live = `is_live AND ${inMonths("month_start", months)}`
    const found = yield* byCurrency(
      `SELECT ${monthSql("month_start")} AS month, currency, coalesce(sum(monthly_amount), 0) AS amount, count(*) AS n
       FROM bi.fct_subscription_month WHERE ${live} GROUP BY ALL`,
      months
    )
    const [moves] = yield* (yield* Warehouse).rows(
      `SELECT count(*) FILTER (is_first_month AND month_start = DATE '${lastWhole(months)}') AS started,
         count(*) FILTER (is_churn_month AND month_start = DATE '${lastWhole(months)}') AS cancelled,
         count(DISTINCT subscription_id) FILTER (monthly_amount IS NULL) AS unknown FROM bi.fct_subscription_month WHERE ${live}`
    )
    const unknown = Number(moves?.["unknown"])
    return {
      figures: figuresOf(found, months, "Monthly recurring"),
      content: section({
        id: "recurring",
        title: "Recurring revenue",
        lead:
          found.length === 0
            ? noneText(
                "There was no live subscription in the last 13 months.",
                "there was a live subscription in the last 13 months",
                { ...noStatus, rows: 0 },
                subscription
              )
            : `In ${month(lastWhole(months))}, ${counted(Number(moves?.["started"]), "subscription")} began and ${count(Number(moves?.["cancelled"]))} ${Number(moves?.["cancelled"]) === 1 ? "was" : "were"} cancelled.${
                unknown === 0
                  ? ""
                  : ` ${counted(unknown, "subscription")} without an interval ${unknown === 1 ? "is" : "are"} not included in the amounts.`
              }${
                noStatus.rows === 0
                  ? ""
                  : ` The status of ${counted(noStatus.rows, "subscription")} is not known; ${noStatus.rows === 1 ? "it counts" : "they count"} as live.`
              }${moreOf(found)}`,
        content: chartsOf(found, months, {
          what: "Monthly recurring revenue",
          id: "recurring-by-month",
          counts: "Subscriptions"
        })
      })
    }
  })
}
