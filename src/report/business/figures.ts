/** What the sections of the second part share: months, and how a section is built. */
import type * as Effect from "effect/Effect"
import type { Failure } from "../../failure.ts"
import type { Warehouse } from "../../warehouse/warehouse.ts"
import type { Html } from "../../values/html.ts"

/** A headline at the top of the part. */
export interface Figure {
  readonly title: string
  readonly value: string
  readonly note: string
}

export interface Topic {
  readonly content: Html
  readonly figures: ReadonlyArray<Figure>
}

export interface TopicDefinition {
  readonly id: string
  readonly title: string
  /** The models that it reads; a release may lack one. */
  readonly models: ReadonlyArray<string>
  readonly make: (months: Months) => Effect.Effect<Topic, Failure, Warehouse>
}

/** The first days of the last 13 months, oldest first, as 2026-11-01: the last one may not be over. */
export type Months = ReadonlyArray<string>

export const monthsUntil = (asOf: number): Months => {
  const end = new Date(asOf)
  return Array.from({ length: 13 }, (_, index) =>
    new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 12 + index, 1)).toISOString().slice(0, 10)
  )
}

/** SQL for the month of a date as in `Months`, and for dates since the first month. */
export const monthSql = (column: string): string => `strftime(date_trunc('month', ${column}), '%Y-%m-01')`
export const inMonths = (column: string, months: Months): string =>
  `${column} >= DATE '${months[0]}' AND ${column} < DATE '${months.at(-1)}' + INTERVAL 1 MONTH`

/** The month before the last one, which is over. */
export const lastWhole = (months: Months): string => months.at(-2)!
