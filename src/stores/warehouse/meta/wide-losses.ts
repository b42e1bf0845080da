/** `meta.wide_losses`: cells of wide tables that do not show their custom value exactly, or not at all. */
import * as Effect from "effect/Effect"
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
  const rows = yield* warehouse.rows("FROM meta.wide_losses ORDER BY view_name, column_name")
  return rows.map((row) => ({
    table: String(row["view_name"]),
    column: String(row["column_name"]),
    rounded: Number(row["rounded"]),
    unfit: Number(row["unfit"])
  }))
})
