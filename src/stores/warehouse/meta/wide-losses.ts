/** `meta.wide_losses`: cells of wide tables that do not show their custom value exactly, or not at all. */
import * as Effect from "effect/Effect"
import { isPlainSql, isRoundedSql } from "../../../catalog/decimals.ts"
import type { Failure } from "../../../values/failure.ts"
import { literal, name } from "../sql.ts"
import { Warehouse } from "../warehouse.ts"
import { typed } from "../wide-types.ts"
import type { WideView } from "../wide-views.ts"
import { existingMetaTables } from "./tables.ts"

/** The types whose column may not hold a value; all others hold every value. */
const lossyTypes = ["MONETORY", "MONETARY", "NUMERICAL", "FLOAT", "DATE", "DATE_TIME"]
const isNumber = (dataType: string): boolean => !dataType.startsWith("DATE")

/** Counts them anew. It takes 76 ms for 74,000 values of these types. */
export const countWideLosses = (views: ReadonlyArray<WideView>): ReadonlyArray<string> => [
  "DELETE FROM meta.wide_losses",
  ...views.flatMap((view) => {
    const fields = view.columns.flatMap(({ column, fields, dataType }) =>
      dataType !== undefined && lossyTypes.includes(dataType)
        ? fields.map(({ field, location }) => `(${[location, field, column, dataType].map(literal).join(", ")})`)
        : []
    )
    if (fields.length === 0) return []
    const used = lossyTypes.filter((type) => view.columns.some(({ dataType }) => dataType === type))
    const cases = (of: (dataType: string) => string) =>
      `CASE f.data_type ${used.map((dataType) => `WHEN ${literal(dataType)} THEN ${of(dataType)}`).join(" ")} END`
    const unfit = cases((dataType) => {
      const isNull = `${typed(dataType, "v.value_text", "v.value::VARCHAR")} IS NULL`
      return isNumber(dataType) ? `CASE WHEN ${isPlainSql("v.value_text")} THEN false ELSE ${isNull} END` : isNull
    })
    const rounded = cases((dataType) => (isNumber(dataType) ? isRoundedSql("v.value_text") : "false"))
    return [
      `INSERT INTO meta.wide_losses (view_name, column_name, rounded, unfit)
       SELECT ${literal(view.view)}, column_name, count(*) FILTER (is_rounded), count(*) FILTER (is_unfit) FROM (
         SELECT f.column_name, ${rounded} AS is_rounded, ${unfit} AS is_unfit FROM crm.${name(view.values)} AS v
         JOIN (VALUES ${fields.join(", ")}) AS f (location, field, column_name, data_type) ON f.location = v.location_id AND f.field = v.${name(view.field)}
         WHERE v.value_text <> '')
       WHERE is_rounded OR is_unfit GROUP BY ALL`
    ]
  })
]

export interface WideLoss {
  readonly table: string
  readonly column: string
  readonly rounded: number
  readonly unfit: number
}

/** An output of an earlier version has no such table. */
export const wideLosses = Effect.fnUntraced(function* (): Effect.fn.Return<
  ReadonlyArray<WideLoss>,
  Failure,
  Warehouse
> {
  const warehouse = yield* Warehouse
  if (!(yield* existingMetaTables(warehouse)).has("wide_losses")) return []
  const rows = yield* warehouse.rows("FROM meta.wide_losses ORDER BY view_name, column_name")
  return rows.map((row) => ({
    table: String(row["view_name"]),
    column: String(row["column_name"]),
    rounded: Number(row["rounded"]),
    unfit: Number(row["unfit"])
  }))
})
