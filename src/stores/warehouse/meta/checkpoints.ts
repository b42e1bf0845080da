/** `meta.checkpoints`: where to resume lists that were not read to their end. One row per partition of a list. */
import * as Effect from "effect/Effect"
import { type Checkpoint, decodeCheckpoint } from "../../../values/checkpoint.ts"
import { query } from "../query.ts"
import { literal } from "../sql.ts"
import { type Reading, isOneOf } from "./reading.ts"

/**
 * Checkpoints by resource or label of a backfill, then by partition. Those of other versions are left out, so their
 * lists are read from the start.
 */
export const checkpointsOf = Effect.fnUntraced(function* (location: string) {
  const rows = yield* query(
    { resource: String, partition: String, checkpoint: decodeCheckpoint },
    `SELECT resource, partition, checkpoint FROM meta.checkpoints WHERE location_id = ${literal(location)}`
  )
  const found = new Map<string, Readonly<Record<string, Checkpoint>>>()
  for (const { resource, partition, checkpoint } of rows)
    if (checkpoint) found.set(resource, { ...found.get(resource), [partition]: checkpoint })
  return found
})

/** Lists that were not read to their end, of every location. */
export const unfinishedLists = () =>
  query(
    { location: String, resource: String },
    "SELECT DISTINCT location_id AS location, resource FROM meta.checkpoints ORDER BY ALL"
  )

/** One for each partition of a list. `checkpoint` is JSON. */
export const replaceCheckpoints = (
  checkpoints: ReadonlyArray<Reading & { readonly partition: string; readonly checkpoint: string }>
): ReadonlyArray<string> =>
  checkpoints.length === 0
    ? []
    : [
        `INSERT OR REPLACE INTO meta.checkpoints (location_id, resource, partition, checkpoint)
         VALUES ${checkpoints.map(({ location, label, partition, checkpoint }) => `(${[location, label, partition, checkpoint].map(literal).join(", ")})`).join(", ")}`
      ]

export const deleteCheckpoints = (readings: ReadonlyArray<Reading>): ReadonlyArray<string> =>
  readings.length === 0 ? [] : [`DELETE FROM meta.checkpoints WHERE ${isOneOf(readings)}`]
