/** `meta.seen_keys`: the keys that unfinished full readings have returned. Rows with other keys may have been deleted. */
import { literal } from "../sql.ts"
import { type Reading, isOneOf } from "./reading.ts"

/** `from`: SQL for a relation with location_id, resource, key. */
export const addSeenKeys = (from: string): string =>
  `INSERT INTO meta.seen_keys (location_id, resource, key) SELECT location_id, resource, key FROM ${from}`

/** SQL for a relation with the column `key`. */
export const seenKeysSql = ({ location, label }: Reading): string =>
  `(SELECT key FROM meta.seen_keys WHERE location_id = ${literal(location)} AND resource = ${literal(label)})`

export const deleteSeenKeys = (readings: ReadonlyArray<Reading>): ReadonlyArray<string> =>
  readings.length === 0 ? [] : [`DELETE FROM meta.seen_keys WHERE ${isOneOf(readings)}`]

/** `keys`: SELECT of keys. */
export const deleteSeenKeysIn = (reading: Reading, keys: string): string =>
  `DELETE FROM meta.seen_keys WHERE ${isOneOf([reading])} AND key IN (${keys})`
