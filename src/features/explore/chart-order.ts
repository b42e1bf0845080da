/** What a chart is: as it is saved, and as its picture is ordered. */
import * as Schema from "effect/Schema"
import { limits } from "./limits.ts"

export const ChartKind = Schema.Literals(["bar", "grouped", "line", "area"])
export type ChartKind = typeof ChartKind.Type

const optional = Schema.optionalKey
const Column = Schema.String.check(Schema.isMaxLength(200))

export const SavedChart = Schema.Struct({
  kind: ChartKind,
  x: Column,
  y: Schema.Array(Column).check(Schema.isMaxLength(2)),
  by: optional(Column)
})

/** Two columns of all rows. */
export const pointsMax = 2 * limits.rows

const Texts = Schema.Array(Schema.String)

export const ChartOrder = Schema.Struct({
  kind: ChartKind,
  /** Titles. */
  x: Schema.String,
  y: Schema.String,
  xType: Schema.Literals(["nominal", "quantitative", "temporal"]),
  /** With the name of its series, if there are several. */
  points: Schema.Array(Schema.Tuple([Schema.String, Schema.Finite, optional(Schema.String)])).check(
    Schema.isMaxLength(pointsMax)
  ),
  width: optional(Schema.Finite),
  isDark: optional(Schema.Boolean),
  /** The columns that its query names and those that the chart adds up, each with what it is multiplied by. */
  named: optional(Texts),
  sums: optional(Schema.Array(Texts)),
  /** Whether it adds several currencies. */
  isMixed: optional(Schema.Boolean)
})
export type ChartOrder = typeof ChartOrder.Type
