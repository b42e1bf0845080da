/** `meta.wide_losses`: cells of wide tables that do not show their custom value exactly, or not at all. */
import * as Effect from "effect/Effect"
import { query } from "../query.ts"
import { Warehouse } from "../warehouse.ts"
import { existingMetaTables } from "./tables.ts"

export interface WideLoss {
  readonly table: string
  readonly column: string
  readonly rounded: number
  readonly unfit: number
}

/** An output of an earlier version has no such table. */
export const wideLosses = Effect.fnUntraced(function* () {
  const warehouse = yield* Warehouse
  if (!(yield* existingMetaTables(warehouse)).has("wide_losses")) return []
  return yield* query(
    { table: String, column: String, rounded: Number, unfit: Number },
    'SELECT view_name AS "table", column_name AS "column", rounded, unfit FROM meta.wide_losses ORDER BY view_name, column_name'
  )
})
