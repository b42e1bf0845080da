/** The id of the company that owns a location; `undefined` until the location is loaded. */
import * as Effect from "effect/Effect"
import { literal } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"

export const companyOf = Effect.fnUntraced(function* (location: string) {
  const [row] = yield* (yield* Warehouse).rows(`SELECT company_id FROM crm.locations WHERE id = ${literal(location)}`)
  return row?.["company_id"] === null || row === undefined ? undefined : String(row["company_id"])
})
