/** The fence: a number of each location, which increases with each owner. An owner with an earlier number stores nothing. */
import * as Effect from "effect/Effect"
import type { Db } from "pg-boss"
import { query, rowsOf } from "./database.ts"
import { tetherMs } from "./tether.ts"

export interface Fence {
  readonly location: string
  readonly number: string
  /** Whether the owner before has stored what it sent last. */
  readonly endedCleanly: boolean
  /** The manifest of the folder in the bucket. */
  readonly snapshot: string | null
}

/** `run`: the job that the owner runs, if it is a worker. */
export const take = async (db: Db, location: string, owner: string, run: string | null): Promise<Fence> => {
  await rowsOf(db, "INSERT INTO sluice_fleet.fences VALUES ($1, 0) ON CONFLICT DO NOTHING", location)
  const [taken] = await rowsOf<Fence>(
    db,
    `UPDATE sluice_fleet.fences AS f SET number = f.number + 1, owner = $2, run = $3::uuid, ended_cleanly = false,
       begun_at = CASE WHEN f.run = $3::uuid THEN f.begun_at ELSE now() END
     FROM (SELECT * FROM sluice_fleet.fences WHERE location = $1 FOR UPDATE) AS before
     WHERE f.location = before.location
     RETURNING f.location, f.number::text, f.snapshot, before.ended_cleanly AS "endedCleanly"`,
    location,
    owner,
    run
  )
  return taken!
}

/**
 * The service still counts what the process of the owner before has sent, and nobody knows how much that was. `silentMs`: how
 * long ago that owner gave its last sign at least.
 */
export const quietMs = ({ endedCleanly }: Fence, windowMs: number, silentMs = 0): number =>
  endedCleanly ? 0 : Math.max(windowMs + tetherMs + marginMs - silentMs, 0)
/** The tolerance for clocks and timers. */
const marginMs = 1000

/** The newest number of each. */
export const numbersOf = (locations: ReadonlyArray<string>) =>
  query<Pick<Fence, "location" | "number">>(
    `SELECT location, number::text FROM sluice_fleet.fences
     WHERE location IN (SELECT jsonb_array_elements_text($1::jsonb))`,
    JSON.stringify(locations)
  ).pipe(Effect.map((rows) => new Map(rows.map(({ location, number }) => [location, number]))))

/** False if the location has another owner now. */
export const setSnapshot = ({ location, number }: Fence, manifest: string) =>
  query(
    "UPDATE sluice_fleet.fences SET snapshot = $3 WHERE location = $1 AND number = $2::bigint RETURNING location",
    location,
    number,
    manifest
  ).pipe(Effect.map((rows) => rows.length === 1))

/** The owner has ended. False if the location has another one. */
export const release = async (db: Db, { location, number }: Fence, isClean: boolean) => {
  const rows = await rowsOf(
    db,
    `UPDATE sluice_fleet.fences SET owner = NULL, ended_cleanly = $3 WHERE location = $1 AND number = $2::bigint
     RETURNING location`,
    location,
    number,
    isClean
  )
  return rows.length === 1
}
