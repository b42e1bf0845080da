/** A topic of the business part: what it counts, and its sentence if there is nothing to count. */
import type * as Effect from "effect/Effect"
import type { Failure } from "../../../values/failure.ts"
import type { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import type { Metric } from "../../../stages/publish/models/metrics.ts"
import type { Content } from "../../../pages/html.ts"
import { counted } from "../format.ts"
import type { Tile } from "../section.ts"
import { type Amount, type MakeTile, statedAll } from "./currencies.ts"
import type { Months } from "./months.ts"
import { distinctNames } from "../../../values/text.ts"

export interface Topic {
  readonly id: string
  readonly title: string
  /** The models that it reads; a release may lack one. */
  readonly models: ReadonlyArray<string>
  /** The resources whose records it shows. */
  readonly resources: ReadonlyArray<string>
  /** Rows of which is not known whether they belong to the topic, or to which month. */
  readonly unknown?: Unknown
  /** What it shows, as a clause: `a task is open`. If there is nothing, no task is. */
  readonly whether: string
  /** What the first sentence of the report counts in a week. */
  readonly week?: Week
  readonly find: (context: Context) => Effect.Effect<Found, Failure, Warehouse>
}

export interface Week {
  readonly thing: string
  readonly things: string
  /** The metric that counts them, and the one that has their amounts. */
  readonly count: string
  readonly amount?: string
  /** SQL: the day at the location, if it is not that of the metric. */
  readonly day?: string
}

/** SQL to look at: the rows that a metric counts and that meet all conditions, of one location or of all. */
export type RowsSql = (of: Pick<Metric, "model" | "where">, ...conditions: ReadonlyArray<string>) => string

/** SQL: the rows of a model, of one location or of all. */
export type From = (model: string) => string

export interface Unknown {
  /** SQL: what follows FROM. */
  readonly rows: (from: From) => string
  /** What a row is. */
  readonly thing: string
  readonly things?: string
  /** What is not known of it: `status`. */
  readonly of: string
  /** SQL: the amount of a row, in its `currency`. */
  readonly amount?: string
}

export interface Context {
  readonly from: From
  readonly rowsSql: RowsSql
  /** The definition of a figure, by its name. */
  readonly metric: (name: string) => Metric
  readonly tile: MakeTile
  readonly months: Months
  /** The first month, and the last one that is over, in words. */
  readonly since: string
  readonly lastMonth: string
  /** Of rows of several locations, the name of each. */
  readonly group: ((row: { readonly location: string }) => string) | undefined
  /** The end of the sentence of a topic that found something: the rows that are not included. */
  readonly leftOut: string
}

export interface Found {
  /** What stands at the top of the part. */
  readonly figures: ReadonlyArray<Tile>
  /** There is nothing, which is said instead of the lead and the content. */
  readonly isEmpty: boolean
  readonly lead: string
  readonly content: Content
  /** SQL of the rows behind it, to which the numbers add conditions of their own. */
  readonly rows?: string
}

/** Why "none" may be wrong. */
export interface Missing {
  /** Resources that were never read to their end. */
  readonly unread: ReadonlyArray<string>
  /** The number of unknown rows, and what they are worth. */
  readonly rows: number
  readonly worth: ReadonlyArray<Amount>
}

const rowsText = (rows: number, { thing, things = `${thing}s` }: Unknown): string => counted(rows, thing, things)

/** There is none only if that is known. */
export const noneText = ({ whether, unknown }: Topic, { unread, rows }: Missing): string =>
  unread.length > 0
    ? `It is not known whether ${whether}: ${unread.join(" and ")} ${unread.length === 1 ? "was" : "were"} never read completely.`
    : unknown && rows > 0
      ? `It is not known whether ${whether}: ${rowsText(rows, unknown)} ${rows === 1 ? "has" : "have"} no known ${unknown.of}.`
      : `${whether.replace(/^an? /, "No ").replace(/^there was an? /, "There was no ")}.`

export const leftOutText = ({ unknown }: Topic, { rows, worth }: Missing): string =>
  unknown && rows > 0
    ? ` ${rowsText(rows, unknown)}${worth.length === 0 ? "" : ` worth ${statedAll(worth)}`} without a known ${unknown.of} ${rows === 1 ? "is" : "are"} not included.`
    : ""

/** Adds the end of the id to a name that several have. */
export const named = <Row extends { readonly location: string; readonly id: string; readonly name: string }>(
  rows: ReadonlyArray<Row>
): ReadonlyArray<Row> =>
  Array.from(Map.groupBy(rows, ({ location }) => location).values()).flatMap((own) => {
    const names = distinctNames([...new Map(own.map(({ id, name }) => [id, { id, name }])).values()])
    return own.map((row) => ({ ...row, name: names.get(row.id) ?? row.name }))
  })
