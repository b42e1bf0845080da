/** What the sections of the second part share: months, and how a section is built. */
import type * as Effect from "effect/Effect"
import type { Failure } from "../../../values/failure.ts"
import type { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import type { Content, Html } from "../../../values/html.ts"
import { counted } from "../format.ts"

/** A headline at the top of the part. */
export interface Figure {
  readonly title: string
  readonly value: Content
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
  /** The resources whose records it shows. */
  readonly resources: ReadonlyArray<string>
  /** SQL for a count of the rows of which is not known whether they belong to the topic, or to which month. */
  readonly unknown: string
  readonly make: (context: Context) => Effect.Effect<Topic, Failure, Warehouse>
  /** What the first sentence of the report counts in a week: SQL for rows with day, currency and amount. */
  readonly week?: { readonly thing: string; readonly things: string; readonly rows: string }
}

export interface Context {
  readonly months: Months
  readonly unknown: Unknown
  /** The name of a location. */
  readonly placeOf: (location: string) => string
}

/** Why "none" may be wrong. */
export interface Unknown {
  /** Resources that were never read to their end. */
  readonly unread: ReadonlyArray<string>
  readonly rows: number
}

/** A row without a state or time, in words. */
export interface UnknownRow {
  readonly thing: string
  readonly things?: string
  /** What is not known of it: `status`. */
  readonly of: string
}

const rowsText = (rows: number, { thing, things = `${thing}s` }: UnknownRow): string => counted(rows, thing, things)

/** The sentence of a topic that found nothing: that there is none only if that is known. `whether`: the same as a question. */
export const noneText = (none: string, whether: string, { unread, rows }: Unknown, row: UnknownRow): string =>
  unread.length > 0
    ? `It is not known whether ${whether}: ${unread.join(" and ")} ${unread.length === 1 ? "was" : "were"} never read completely.`
    : rows > 0
      ? `It is not known whether ${whether}: ${rowsText(rows, row)} ${rows === 1 ? "has" : "have"} no known ${row.of}.`
      : none

/** The end of the sentence of a topic that found something. */
export const leftOut = ({ rows }: Unknown, row: UnknownRow): string =>
  rows === 0 ? "" : ` ${rowsText(rows, row)} without a known ${row.of} ${rows === 1 ? "is" : "are"} not included.`

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
