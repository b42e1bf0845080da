/**
 * `meta.parent_state`: for each parent, which version its children or detail were fetched for, when, and where to resume.
 * One row per location, label of the children or detail, and parent.
 */
import { literal } from "../sql.ts"
import type { Reading } from "./reading.ts"

/** SQL for the rows of a reading: all columns of the table. */
export const parentStateSql = ({ location, label }: Reading): string =>
  `(FROM meta.parent_state WHERE location_id = ${literal(location)} AND resource = ${literal(label)})`

/** SQL for the ids of parents whose detail was read. */
export const detailedParentsSql = (reading: Reading): string =>
  `SELECT parent_id FROM ${parentStateSql(reading)} WHERE content_hash IS NOT NULL`

/** SQL for the pairs of location and parent whose children or detail were fetched. */
export const fetchedParentsSql = (label: string): string =>
  `SELECT (location_id, parent_id) FROM meta.parent_state WHERE resource = ${literal(label)}`

/** `ids`: SELECT of the ids of parents. */
export const deleteParentState = ({ location, label }: Reading, ids: string): string =>
  `DELETE FROM meta.parent_state WHERE location_id = ${literal(location)} AND resource = ${literal(label)} AND parent_id IN (${ids})`

/** `from`: a relation with parent_id, parent_version, content_hash, fetched_ms, full_at, checkpoint. */
export const replaceParentState = ({ location, label }: Reading, from: string): ReadonlyArray<string> => [
  deleteParentState({ location, label }, `SELECT parent_id FROM ${from}`),
  `INSERT INTO meta.parent_state
     (location_id, resource, parent_id, parent_version, content_hash, fetched_at, full_at, checkpoint)
   SELECT ${literal(location)}, ${literal(label)}, parent_id, parent_version, content_hash,
     to_timestamp(fetched_ms / 1000), full_at, checkpoint FROM ${from}`
]
