/** `meta.vault_offset`: how far the vault is loaded. One row, replaced in the transaction that loads the rows. */
import * as Effect from "effect/Effect"
import type { Position } from "../../vault/position.ts"
import { query } from "../query.ts"
import { numbers } from "../../../values/rows.ts"
import { Warehouse } from "../warehouse.ts"
import { existingMetaTables } from "./tables.ts"

/** The position after the last loaded frame; `undefined` before the first load. */
export const loadedPosition = Effect.fnUntraced(function* () {
  if (!(yield* existingMetaTables(yield* Warehouse)).has("vault_offset")) return undefined
  const [position] = yield* query(
    numbers("segment", "offset"),
    'SELECT segment, byte_offset AS "offset" FROM meta.vault_offset'
  )
  return position
})

export const positionStatements = ({ segment, offset }: Position): ReadonlyArray<string> => [
  `MERGE INTO meta.vault_offset USING (SELECT ${segment} AS segment, ${offset} AS byte_offset) ON true
   WHEN MATCHED THEN UPDATE WHEN NOT MATCHED THEN INSERT`
]
