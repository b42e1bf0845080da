/** What happened in the last seven whole days, in a sentence, against the seven days before. */
import * as Effect from "effect/Effect"
import { numberOf } from "../../../stores/warehouse/sql.ts"
import { dayMs } from "../../../catalog/timestamps.ts"
import { count } from "../format.ts"
import { type Html, day, html } from "../../../pages/html.ts"
import { query } from "../../../stores/warehouse/query.ts"
import { sumOf } from "../../../pages/html-table.ts"
import { currency, statedAll } from "./currencies.ts"
import type { Context, Missing, Week } from "./topic.ts"

/** Day numbers since 1970. */
export interface Days {
  readonly first: number
  readonly last: number
}

/** The day of the report is not over: where it is the latest, if the account has locations in several time zones. */
export const weekOf = Effect.fn("report.weekOf")(function* (asOf: number) {
  const [found] = yield* query(
    { today: numberOf },
    `SELECT ${dayNumber(`min((to_timestamp(${asOf / 1000}) AT TIME ZONE time_zone)::DATE)`)} AS today FROM bi.dim_location`
  )
    // A release of an earlier version.
    .pipe(
      Effect.catchIf(
        ({ reason }) => reason._tag === "StatementRejected",
        () => Effect.succeed([])
      )
    )
  const last = (found?.today ?? Math.floor(asOf / dayMs)) - 1
  return { first: last - 6, last }
})

const dayNumber = (date: string) => `date_diff('day', DATE '1970-01-01', ${date})`

/** `undefined` if it is not known. Days are those of the time zone of the location. */
export const clauseOf = Effect.fn("report.week")(function* (
  week: Week,
  { first, last }: Days,
  missing: Missing,
  { from, metric, rowsSql }: Pick<Context, "from" | "metric" | "rowsSql">
) {
  if (missing.unread.length > 0) return undefined
  const { thing, things } = week
  const counts = metric(week.count)
  const { condition, model } = counts
  const day = week.day ?? counts.day
  const [code, amount] =
    week.amount === undefined
      ? ["NULL AS currency", "NULL"]
      : ["currency", `${metric(week.amount).value} FILTER (day >= ${first})`]
  const found = yield* query(
    { currency, now: Number, before: Number, amount: Number },
    `SELECT ${code}, count(*) FILTER (day >= ${first}) AS now, count(*) FILTER (day < ${first}) AS before, ${amount} AS amount
     FROM (SELECT *, ${dayNumber(day)} AS day FROM ${from(model)} AS ${model} WHERE ${condition}) WHERE day BETWEEN ${first - 7} AND ${last} GROUP BY ALL ORDER BY now DESC, currency`
  )
  const now = sumOf(found, (one) => one.now)
  const before = sumOf(found, (one) => one.before)
  if (now === 0 && missing.rows > 0) return undefined
  const amounts = found.filter(({ amount }) => amount !== 0)
  const difference =
    now === before
      ? now === 0
        ? ""
        : " (as many)"
      : ` (${count(Math.abs(now - before))} ${now > before ? "more" : "fewer"})`
  const isOfWeek = `${day} BETWEEN ${dateOf(first)} AND ${dateOf(last)}`
  return html`<strong data-rows="${rowsSql(counts, isOfWeek)}"
      >${now === 0 ? "no" : count(now)} ${now === 1 ? thing : things}</strong
    >${amounts.length === 0 ? "" : ` worth ${statedAll(amounts)}`}${difference}`
})

const dateOf = (number: number) => `DATE '${new Date(number * dayMs).toISOString().slice(0, 10)}'`

export const headlineOf = ({ first, last }: Days, clauses: ReadonlyArray<Html>): Html | undefined =>
  clauses.length === 0
    ? undefined
    : html`<p class="headline">
        From ${day(first * dayMs)} to ${day(last * dayMs)}, in comparison with the 7 days before:
        ${clauses.flatMap((clause, index) => (index === 0 ? [clause] : ["; ", clause]))}.
      </p>`
