/**
 * `meta.parent_state`: for each parent, which version its children or detail were fetched for, when, and where to resume.
 * One row per location, label of the children or detail, and parent.
 */
import { literal } from "../sql.ts"
import { type Reading, readingsIn } from "./reading.ts"

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

/** Readings of which some parent has a state. */
export const readingsWithParentState = readingsIn("parent_state")

const columns = "location_id, resource, parent_id, parent_version, content_hash, fetched_at, full_at, checkpoint"

/**
 * Creates the temporary table `parents`: the state of each parent after a batch. `from`: a relation with
 * location_id, resource, parent_id, parent_version, content_hash, fetched_ms, full_ms, checkpoint. A request that failed has
 * neither version nor content: the parent is due, and its row still has the content of the detail before.
 */
export const stageParentState = (from: string): string =>
  `CREATE OR REPLACE TEMP TABLE parents AS
   SELECT p.location_id, p.resource, p.parent_id, p.parent_version, coalesce(p.content_hash, f.content_hash) AS content_hash, to_timestamp(p.fetched_ms / 1000) AS fetched_at,
     coalesce(to_timestamp(p.full_ms / 1000), f.full_at) AS full_at, p.full_ms IS NOT NULL AS is_complete, p.checkpoint
   FROM ${from} AS p LEFT JOIN meta.parent_state AS f USING (location_id, resource, parent_id)`

/** SQL for the staged parents of a reading. */
export const stagedParentsSql = ({ location, label }: Reading): string =>
  `(FROM parents WHERE location_id = ${literal(location)} AND resource = ${literal(label)})`

/** Replaces the state of the parents in the temporary table `parents`. */
export const replaceParentState: ReadonlyArray<string> = [
  "DELETE FROM meta.parent_state AS f USING parents AS p WHERE f.location_id = p.location_id AND f.resource = p.resource AND f.parent_id = p.parent_id",
  `INSERT INTO meta.parent_state (${columns}) SELECT ${columns} FROM parents`
]
