/** `meta.planned_totals`: totals of lists that the service reported to a plan. */
import * as Effect from "effect/Effect"
import { insertStatements, instantOf, literal, numberOf } from "../sql.ts"
import { query } from "../query.ts"
import { Warehouse } from "../warehouse.ts"

/** Totals that are not older than a time, in epoch milliseconds. */
export const plannedTotals = (location: string, after: number) =>
  query(
    // `since`: for the list of changes since a time, in epoch milliseconds.
    { resource: String, since: numberOf, total: Number },
    `SELECT resource, epoch_ms(since) AS since, total FROM meta.planned_totals
     WHERE location_id = ${literal(location)} AND reported_at >= ${instantOf(after)}`
  )

/** Replaces the totals of a location. */
export const setPlannedTotals = Effect.fnUntraced(function* (
  location: string,
  totals: Effect.Success<ReturnType<typeof plannedTotals>>,
  reportedAt: number
) {
  const values = totals.map(
    ({ resource, since, total }) =>
      `(${literal(location)}, ${literal(resource)}, ${since === undefined ? "NULL" : instantOf(since)}, ${total}, ${instantOf(reportedAt)})`
  )
  yield* (yield* Warehouse).transaction([
    `DELETE FROM meta.planned_totals WHERE location_id = ${literal(location)}`,
    ...insertStatements("meta.planned_totals (location_id, resource, since, total, reported_at)", values)
  ])
})
