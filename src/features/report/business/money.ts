/** Sections: payments and recurring revenue by month, one chart for each currency. */
import * as Effect from "effect/Effect"
import type { Failure } from "../../../values/failure.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { columns, ticksOf } from "../charts.ts"
import { brief, count, counted, money, month } from "../format.ts"
import { type Html, html } from "../../../values/html.ts"
import { ownName } from "../mask.ts"
import { numbersOf, section } from "../table.ts"
import { type Months, type TopicDefinition, inMonths, lastWhole, leftOut, monthSql, noneText } from "./figures.ts"

/** Currencies with a chart; the lead names how many there are. */
const currenciesMax = 4

interface ByMonth {
  readonly currency: string
  readonly amounts: ReadonlyArray<number>
  readonly counts: ReadonlyArray<number>
}

/** `sql`: a relation with month, currency, amount and n. The currency with the most rows comes first. */
const byCurrency = Effect.fnUntraced(function* (
  sql: string,
  months: Months
): Effect.fn.Return<ReadonlyArray<ByMonth>, Failure, Warehouse> {
  const rows = yield* (yield* Warehouse).rows(
    `SELECT coalesce(currency, 'no currency') AS currency, month, sum(amount) AS amount, sum(n)::BIGINT AS n
     FROM (${sql}) GROUP BY ALL ORDER BY currency, month`
  )
  const weightOf = (currency: string) =>
    rows.reduce((sum, row) => sum + (row["currency"] === currency ? Number(row["n"]) : 0), 0)
  const currencies = [...new Set(rows.map((row) => String(row["currency"])))].sort(
    (one, other) => weightOf(other) - weightOf(one)
  )
  return currencies.map((currency) => {
    const of = (one: string) => rows.find((row) => row["currency"] === currency && row["month"] === one)
    return {
      currency: ownName(currency),
      amounts: months.map((one) => Number(of(one)?.["amount"] ?? 0)),
      counts: months.map((one) => Number(of(one)?.["n"] ?? 0))
    }
  })
})

const chartsOf = (found: ReadonlyArray<ByMonth>, months: Months, what: string, id: string, counts: string): Html =>
  html`<div class="pair">
      ${found.slice(0, currenciesMax).map(
        ({ currency, amounts }) =>
          html`<div>
            <h4>${currency}</h4>
            ${columns(
              amounts.map((value, index) => ({ text: `${month(months[index]!)}: ${money(value, currency)}`, value })),
              {
                title: `${what} by month in ${currency}`,
                description: `In ${month(lastWhole(months))}, ${money(amounts.at(-2)!, currency)}.`,
                unit: `${currency} by month; the last month is not over`,
                format: brief,
                ticks: ticksOf(months.map(month), "columns")
              }
            )}
          </div>`
      )}
    </div>
    ${numbersOf({
      id,
      caption: `${what} by month`,
      rows: months.map((one, index) => ({ one, index })),
      columns: [
        { head: "Month", cell: ({ one }) => month(one) },
        ...found.slice(0, currenciesMax).flatMap(({ currency, amounts, counts: numbers }) => [
          { head: currency, kind: "number" as const, cell: ({ index }: { index: number }) => count(amounts[index]!) },
          { head: counts, kind: "number" as const, cell: ({ index }: { index: number }) => count(numbers[index]!) }
        ])
      ]
    })}`

const moreOf = (found: ReadonlyArray<ByMonth>): string =>
  found.length > currenciesMax
    ? ` The ${currenciesMax} of ${found.length} currencies with the most rows are shown.`
    : ""

const payment = { thing: "payment", of: "status, day or amount" }

export const revenueTopic: TopicDefinition = {
  id: "revenue",
  title: "Revenue",
  models: ["fct_payment"],
  resources: ["transactions"],
  unknown:
    "SELECT count(*) FROM bi.fct_payment WHERE is_live AND (is_succeeded IS NULL OR (is_succeeded AND (paid_local_date IS NULL OR net_amount IS NULL)))",
  make: Effect.fn("report.revenue")(function* (months, unknown) {
    const found = yield* byCurrency(
      `SELECT ${monthSql("paid_local_date")} AS month, currency, sum(net_amount) AS amount, count(*) AS n FROM bi.fct_payment
       WHERE is_live AND is_succeeded AND ${inMonths("paid_local_date", months)} GROUP BY ALL`,
      months
    )
    return {
      figures: found.slice(0, 1).map(({ currency, amounts }) => ({
        title: "Revenue",
        value: `${currency} ${brief(amounts.at(-2)!)}`,
        note: `in ${month(lastWhole(months))}`
      })),
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
            : `Payments that succeeded, without refunds and tests: ${found
                .slice(0, currenciesMax)
                .map(({ currency, amounts }) => money(amounts.at(-2)!, currency))
                .join(" and ")} in ${month(lastWhole(months))}.${moreOf(found)}${leftOut(unknown, payment)}`,
        content: found.length === 0 ? undefined : chartsOf(found, months, "Revenue", "revenue-by-month", "Payments")
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
  make: Effect.fn("report.recurring")(function* (months, noStatus) {
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
      figures: found.slice(0, 1).map(({ currency, amounts }) => ({
        title: "Monthly recurring",
        value: `${currency} ${brief(amounts.at(-2)!)}`,
        note: `in ${month(lastWhole(months))}`
      })),
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
            : `In ${month(lastWhole(months))}, ${counted(Number(moves?.["started"]), "subscription")} began and ${count(Number(moves?.["cancelled"]))} were cancelled.${
                unknown === 0
                  ? ""
                  : ` ${counted(unknown, "subscription")} without an interval ${unknown === 1 ? "is" : "are"} not included in the amounts.`
              }${
                noStatus.rows === 0
                  ? ""
                  : ` The status of ${counted(noStatus.rows, "subscription")} is not known; ${noStatus.rows === 1 ? "it counts" : "they count"} as live.`
              }${moreOf(found)}`,
        content:
          found.length === 0
            ? undefined
            : chartsOf(found, months, "Monthly recurring revenue", "recurring-by-month", "Subscriptions")
      })
    }
  })
}
