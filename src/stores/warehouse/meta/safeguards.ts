/**
 * `meta.safeguards`: what the files beside the warehouse must still contain, such as the list of erased people, so that a file
 * that was lost is not taken for an empty one.
 */
import * as Effect from "effect/Effect"
import { query } from "../query.ts"
import { literal } from "../sql.ts"
import { Warehouse } from "../warehouse.ts"
import { existingMetaTables } from "./tables.ts"

export interface Safeguard {
  readonly entries: number
  /** Hexadecimal, of the entries; of a ledger, of its last record. */
  readonly sha256: string
}

/** `file`: its name in the output folder. `undefined` if the warehouse knows nothing about it. */
export const safeguardOf = Effect.fnUntraced(function* (file: string) {
  if (!(yield* existingMetaTables(yield* Warehouse)).has("safeguards")) return undefined
  const [row] = yield* query(
    { entries: Number, sha256: String },
    `SELECT entries, sha256 FROM meta.safeguards WHERE file = ${literal(file)}`
  )
  return row
})

/** Does nothing in a new file, which has no tables yet. */
export const storeSafeguard = Effect.fnUntraced(function* (file: string, { entries, sha256 }: Safeguard) {
  const warehouse = yield* Warehouse
  if (!(yield* existingMetaTables(warehouse)).has("safeguards")) return
  yield* warehouse.transaction([
    `INSERT OR REPLACE INTO meta.safeguards (file, entries, sha256) VALUES (${literal(file)}, ${entries}, ${literal(sha256)})`
  ])
})
