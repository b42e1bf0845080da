/** The months of the report's figures, and what happened in each of them. */
import { itemAt } from "../../../catalog/present.ts"
import { type Series, legend, lines, spread, ticksOf } from "../../../pages/charts.ts"
import { type Html, html, month } from "../../../pages/html.ts"
import { brief } from "../format.ts"
import { type Table, numbersOf, text } from "../../../pages/html-table.ts"

/** The first days of the last 13 months, oldest first, as 2026-11-01: the last one may not be over. */
export type Months = ReadonlyArray<string>

export const monthsUntil = (asOf: number): Months => {
  const end = new Date(asOf)
  return Array.from({ length: 13 }, (_, index) =>
    new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 12 + index, 1)).toISOString().slice(0, 10)
  )
}

/** SQL: the days of a month, or of all of them. */
export const during = (day: string, month: string): string =>
  `${day} >= DATE '${month}' AND ${day} < DATE '${month}' + INTERVAL 1 MONTH`
export const duringAll = (day: string, months: Months): string =>
  `${day} >= DATE '${months[0]}' AND ${day} < DATE '${months.at(-1)}' + INTERVAL 1 MONTH`

/** The month before the last one, which is over. */
export const lastWhole = <Month>(months: ReadonlyArray<Month>) => itemAt(months, months.length - 2)

/** SQL for the rows that have their `day` in these months, with `month` as in `Months`. `rows`: what follows FROM. */
export const inMonths = (rows: string, day: string, months: Months): string =>
  `(SELECT *, strftime(date_trunc('month', ${day}), '%Y-%m-01') AS month FROM (FROM ${rows})
    WHERE ${duringAll(day, months)})`

interface InMonth {
  readonly month: string
}

/** A row for each month: that of a query, or else `none`. */
export const inEach = <Row extends InMonth>(months: Months, found: ReadonlyArray<Row>, none: Omit<Row, "month">) =>
  months.map((month) => ({ ...none, ...found.find((row) => row.month === month), month }))

export interface MonthlyLines<Row> {
  readonly title: string
  readonly description: string
  readonly unit: string
  readonly lines: ReadonlyArray<readonly [name: string, value: (row: Row) => number | undefined]>
  /** A value in words. */
  readonly say: (value: number) => string
  readonly numbers: Table<Row>
}

/** At most two lines by month, and their numbers. */
export const monthlyLines = <Row extends InMonth>(
  rows: ReadonlyArray<Row>,
  { lines: shown, numbers, say, ...frame }: MonthlyLines<Row>
): Html => {
  const series = shown.map(([name, value], index): Series => ({
    name,
    kind: index === 0 ? "line" : "second",
    points: spread(rows.map(value))
  }))
  const names = rows.map((row) => month(row.month))
  const said = (value: number | undefined) => (value === undefined ? "–" : say(value))
  const sayOf = (row: Row) => shown.map(([name, value]) => `${name} ${said(value(row))}`).join(", ")
  const texts = rows.map((row, index) => `${names[index]}: ${sayOf(row)}`)
  return html`${lines(series, { ...frame, texts, isPartial: true, format: brief, ticks: ticksOf(names, "points") })}
  ${legend(series)} ${numbersByMonth(rows, numbers)}`
}

export const numbersByMonth = <Row extends InMonth>(rows: ReadonlyArray<Row>, table: Table<Row>): Html =>
  numbersOf(rows, {
    ...table,
    columns: [
      // The last one may not be over.
      text("Month", (row) => `${month(row.month)}${row === rows.at(-1) ? " so far" : ""}`),
      ...table.columns
    ]
  })
