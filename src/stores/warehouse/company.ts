/** The id of the company that owns a location; `undefined` until the location is loaded. */
import * as Effect from "effect/Effect"
import { query } from "./query.ts"
import { literal, stringOf } from "./sql.ts"

export const companyOf = Effect.fnUntraced(function* (location: string) {
  const [row] = yield* query(
    { company: stringOf },
    `SELECT company_id AS company FROM crm.locations WHERE id = ${literal(location)}`
  )
  return row?.company
})
