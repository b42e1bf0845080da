/**
 * `meta.missing_children`: rows that a complete reading of their parent did not return, until extract has decided whether
 * they are deleted. `last_at` is later than `first_at` once a second reading has not returned them either.
 */
import { literal } from "../sql.ts"
import { type Reading, isOneOf, readingsIn } from "./reading.ts"

/** Readings that have not returned some row. */
export const readingsWithMissing = readingsIn("missing_children")

/** SQL for a relation with the columns key, parent_id, first_at, last_at. */
export const missingChildrenSql = ({ location, label }: Reading): string =>
  `(FROM meta.missing_children WHERE location_id = ${literal(location)} AND resource = ${literal(label)})`

/** `from`: a relation with key, parent_id, and the time of the reading, at_. */
export const noteMissing = (reading: Reading, from: string): ReadonlyArray<string> => {
  const { location, label } = reading
  return [
    `UPDATE meta.missing_children AS m SET last_at = greatest(m.last_at, n.at_) FROM ${from} AS n
     WHERE m.location_id = ${literal(location)} AND m.resource = ${literal(label)} AND m.key = n.key`,
    `INSERT INTO meta.missing_children (location_id, resource, key, parent_id, first_at, last_at)
     SELECT ${literal(location)}, ${literal(label)}, n.key, n.parent_id, n.at_, n.at_ FROM ${from} AS n
     ANTI JOIN ${missingChildrenSql(reading)} AS m ON m.key = n.key`
  ]
}

/** `keys`: SELECT of keys that are no longer missing, or have been decided about. */
export const forgetMissing = (reading: Reading, keys: string): string =>
  `DELETE FROM meta.missing_children WHERE ${isOneOf([reading])} AND key IN (${keys})`
