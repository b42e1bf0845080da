/** `meta.backfilled_windows`: time windows that a backfill has read, and later backfills skip. */
import * as Effect from "effect/Effect"
import type { Window } from "../../../catalog/timestamps.ts"
import { query } from "../query.ts"
import { instantOf, literal } from "../sql.ts"

/** Windows by resource, in epoch milliseconds. */
export const backfilledWindows = Effect.fnUntraced(function* (location: string) {
  const rows = yield* query(
    { resource: String, from: Number, to: Number },
    `SELECT resource, epoch_ms(from_at) AS "from", epoch_ms(to_at) AS "to" FROM meta.backfilled_windows
     WHERE location_id = ${literal(location)}`
  )
  const byResource = new Map<string, Array<Window>>()
  for (const { resource, from, to } of rows) byResource.set(resource, [...(byResource.get(resource) ?? []), [from, to]])
  return byResource
})

export const addWindow = (run: string, location: string, resource: string, [from, to]: Window): string =>
  `INSERT INTO meta.backfilled_windows (location_id, resource, from_at, to_at, run_id)
   VALUES (${literal(location)}, ${literal(resource)}, ${instantOf(from)}, ${instantOf(to)}, ${literal(run)})`
