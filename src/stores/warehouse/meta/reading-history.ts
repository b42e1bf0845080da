/** What earlier syncs took for each reading, from `meta.run_resources` and `meta.runs`. */
import * as Effect from "effect/Effect"
import { literal, numberOf } from "../sql.ts"
import { Warehouse } from "../warehouse.ts"

export interface PastReading {
  readonly mode: string
  readonly requests: number
  /** New and changed rows. */
  readonly changed: number
  /** Milliseconds since the end of the reading before it; `undefined` for the first one. */
  readonly elapsedMs: number | undefined
}

/** Enough to see what an ordinary night takes. */
const readingsMax = 7

/** The last complete readings by label, newest first. Full syncs and backfills do not show what a night takes. */
export const readingHistory = Effect.fnUntraced(function* (location: string) {
  const rows = yield* (yield* Warehouse).rows(
    `SELECT r.resource, r.mode, r.requests, r.new_rows + r.changed_rows AS changed,
       epoch_ms(r.finished_at) - epoch_ms(lag(r.finished_at) OVER (PARTITION BY r.resource ORDER BY r.run_id)) AS elapsed
     FROM meta.run_resources AS r JOIN meta.runs AS n USING (run_id)
     WHERE r.location_id = ${literal(location)} AND n.command = 'sync' AND r.status LIKE 'complete%' AND r.mode <> 'window'
     QUALIFY row_number() OVER (PARTITION BY r.resource ORDER BY r.run_id DESC) <= ${readingsMax}
     ORDER BY r.resource, r.run_id DESC`
  )
  const found = new Map<string, Array<PastReading>>()
  for (const row of rows) {
    const past = {
      mode: String(row["mode"]),
      requests: Number(row["requests"]),
      changed: Number(row["changed"]),
      elapsedMs: numberOf(row["elapsed"])
    }
    found.set(String(row["resource"]), [...(found.get(String(row["resource"])) ?? []), past])
  }
  return found
})
