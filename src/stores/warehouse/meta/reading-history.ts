/** What earlier syncs took for each reading, from `meta.run_resources` and `meta.runs`. */
import * as Effect from "effect/Effect"
import { query } from "../query.ts"
import { type RowOf } from "../../../values/rows.ts"
import { literal, numberOf } from "../sql.ts"

export type PastReading = RowOf<typeof columns>
const columns = {
  resource: String,
  mode: String,
  requests: Number,
  /** New and changed rows. */
  changed: Number,
  /** Milliseconds since the end of the reading before it; `undefined` for the first one. */
  elapsedMs: numberOf
}

/** Enough to see what an ordinary night takes. */
const readingsMax = 7

/** The last complete readings by label, newest first. Full syncs and backfills do not show what a night takes. */
export const readingHistory = Effect.fnUntraced(function* (location: string) {
  const rows = yield* query(
    columns,
    `SELECT r.resource, r.mode, r.requests, r.new_rows + r.changed_rows AS changed,
       epoch_ms(r.finished_at) - epoch_ms(lag(r.finished_at) OVER (PARTITION BY r.resource ORDER BY r.run_id)) AS elapsedMs
     FROM meta.run_resources AS r JOIN meta.runs AS n USING (run_id)
     WHERE r.location_id = ${literal(location)} AND n.command = 'sync' AND r.status LIKE 'complete%' AND r.mode <> 'window'
     QUALIFY row_number() OVER (PARTITION BY r.resource ORDER BY r.run_id DESC) <= ${readingsMax}
     ORDER BY r.resource, r.run_id DESC`
  )
  return Map.groupBy(rows, ({ resource }) => resource)
})
