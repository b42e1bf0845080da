/** What workers write about locations and their runs. Every statement is atomic, and does nothing if repeated. */
import * as Effect from "effect/Effect"
import { query, wakeWorkers } from "./database.ts"
import type { Outcome } from "./child.ts"
import { epochMs, openStates } from "./tables.ts"

/** Of one worker, from its start to its end. A restarted one is another. */
export interface Owner {
  readonly name: string
  /** How long a location stays its own without a sign of it. */
  readonly leaseMs: number
  /** Where the worker keeps copies of folders that are in a bucket, if they are. A worker that is restarted has them still. */
  readonly cache: string | undefined
}

/** A run, with the location that a worker owns for it. */
export interface Claim {
  readonly location: string
  readonly generation: string
  /** Whether the run before has stored what it sent last. */
  readonly endedCleanly: boolean
  /** The manifest of its folder in the bucket. */
  readonly snapshot: string | null
  readonly token: string | null
  readonly run: number
  readonly kind: "sync" | "full" | "backfill"
  readonly from: string | null
  readonly to: string | null
  readonly failures: number
}

/** A copy of the folder is on this worker, or on none, so no other begins the run with less work. */
const isNear = "coalesce(l.cache = $3, true)"

/**
 * The next run whose time has come, oldest tables first; undefined if there is none. One that another worker claims at this
 * moment is left out instead of waited for. A run that has begun before continues although its location is paused.
 *
 * With folders in a bucket, the worker that has a copy may begin first, until the run is 10 seconds late; and who has a choice
 * begins what it has copies of, until another run is an hour late.
 */
export const claim = ({ cache, leaseMs, name }: Owner) =>
  query<Claim>(
    `WITH next AS (
       SELECT l.location, l.ended_cleanly, r.run, r.kind, r.window_from, r.window_to, r.failures
       FROM runs AS r JOIN locations AS l USING (location)
       WHERE r.state IN ${openStates} AND r.not_before <= now() AND (l.owner IS NULL OR l.lease_until < now())
         AND (NOT l.paused OR r.state IN ('running', 'cancelling'))
         AND (${isNear} OR r.state = 'running' OR r.not_before < now() - interval '10 seconds')
       ORDER BY ${isNear} OR r.not_before < now() - interval '1 hour' DESC, l.fresh_at NULLS FIRST, r.run
       LIMIT 1
       FOR UPDATE OF r, l SKIP LOCKED
     )
     UPDATE locations AS l
     SET owner = $1, generation = l.generation + 1, ended_cleanly = false,
       lease_until = now() + $2 * interval '1 millisecond', cache = coalesce($3, l.cache)
     FROM next WHERE l.location = next.location
     RETURNING l.location, l.generation::text, next.ended_cleanly AS "endedCleanly", l.snapshot, l.token,
       next.run::float8 AS run, next.kind, next.window_from AS "from", next.window_to AS "to", next.failures`,
    name,
    leaseMs,
    cache ?? null
  ).pipe(Effect.map(([claimed]) => claimed))

/** Extends what the worker still owns, and returns it. What it has lost stays lost. */
export const extend = ({ leaseMs, name }: Owner, locations: ReadonlyArray<string>) =>
  query<{ readonly location: string; readonly generation: string; readonly isCancelled: boolean }>(
    `UPDATE locations AS l SET lease_until = now() + $2 * interval '1 millisecond'
     WHERE owner = $1 AND lease_until > now() AND location IN (SELECT jsonb_array_elements_text($3::jsonb))
     RETURNING location, generation::text,
       EXISTS (SELECT FROM runs AS r WHERE r.location = l.location AND state = 'cancelling') AS "isCancelled"`,
    name,
    leaseMs,
    JSON.stringify(locations)
  )

/** False if the run was cancelled meanwhile, or the location belongs to another worker now. */
export const begin = ({ generation, location, run }: Claim, worker: string) =>
  query(
    `UPDATE runs SET state = 'running', worker = $2, started_at = coalesce(started_at, now()), attempts = attempts + 1
     WHERE run = $1 AND state IN ('queued', 'waiting', 'running')
       AND EXISTS (SELECT FROM locations WHERE location = $3 AND generation = $4::bigint AND owner = $2)
     RETURNING run`,
    run,
    worker,
    location,
    generation
  ).pipe(Effect.map((rows) => rows.length === 1))

/** False if the location belongs to another worker now. */
export const setSnapshot = ({ generation, location }: Claim, manifest: string) =>
  query(
    `UPDATE locations SET snapshot = $3 WHERE location = $1 AND generation = $2::bigint AND owner IS NOT NULL
     RETURNING location`,
    location,
    generation,
    manifest
  ).pipe(Effect.map((rows) => rows.length === 1))

/** The run is neither done nor lost: a worker that stops leaves it to another. */
export const handBack = ({ generation, location }: Claim, isClean: boolean) =>
  query(
    `UPDATE locations SET owner = NULL, lease_until = NULL, ended_cleanly = ended_cleanly OR $3
     WHERE location = $1 AND generation = $2::bigint`,
    location,
    generation,
    isClean
  ).pipe(Effect.andThen(wakeWorkers))

export interface Result extends Pick<Outcome, "exitCode" | "message" | "requests" | "requestsLeft" | "isClean"> {
  readonly state: "done" | "partial" | "failed" | "cancelled" | "waiting"
  /** Epoch milliseconds. */
  readonly notBefore: number | undefined
  readonly isFailure: boolean
}

/** Stores how a run ended, and frees its location. False if the location belongs to another worker now. */
export const finish = ({ generation, location, run }: Claim, result: Result) =>
  query(
    `WITH freed AS (
       UPDATE locations SET owner = NULL, lease_until = NULL, ended_cleanly = ended_cleanly OR $3,
         fresh_at = CASE WHEN $5 = 'done'
           THEN (SELECT CASE WHEN kind = 'backfill' THEN fresh_at ELSE started_at END FROM runs WHERE run = $4)
           ELSE fresh_at END,
         requests_left = coalesce($11::int, requests_left),
         requests_left_at = CASE WHEN $11::int IS NULL THEN requests_left_at ELSE now() END
       WHERE location = $1 AND generation = $2::bigint
       RETURNING location
     ), ended AS (
       UPDATE runs SET state = $5, exit_code = $6, message = $7, requests = $8, ended_at = now(),
         failures = failures + CASE WHEN $9 THEN 1 ELSE 0 END,
         not_before = coalesce(to_timestamp($10::float8 / 1000), not_before)
       WHERE run = $4 AND state IN ${openStates} AND EXISTS (SELECT FROM freed)
     )
     SELECT location FROM freed`,
    location,
    generation,
    result.isClean,
    run,
    result.state,
    result.exitCode,
    result.message ?? null,
    result.requests ?? null,
    result.isFailure,
    result.notBefore ?? null,
    result.requestsLeft ?? null
  ).pipe(Effect.map((rows) => rows.length === 1))

/** When the schedule queues a run of each location next. The first worker with a schedule decides that. */
export const nextNight = (schedule: string, next: number) =>
  query(
    `INSERT INTO schedules (schedule, next_at) VALUES ($1, to_timestamp($2::float8 / 1000)) ON CONFLICT DO NOTHING`,
    schedule,
    next
  ).pipe(
    Effect.andThen(
      query<{ readonly at: number; readonly isDue: boolean }>(
        `SELECT ${epochMs("next_at")} AS at, next_at <= now() AS "isDue" FROM schedules WHERE schedule = $1`,
        schedule
      )
    ),
    Effect.map(([night]) => night!)
  )

/**
 * Queues a sync of every location, spread over the jitter by a hash of the location: each night at the same time. Does nothing
 * if another worker has done so, and queues nothing for a night that is more than a day ago.
 */
export const enqueueNight = (schedule: string, at: number, next: number, jitterMs: number) =>
  query<{ readonly location: string }>(
    `WITH night AS (
       UPDATE schedules SET next_at = to_timestamp($3::float8 / 1000)
       WHERE schedule = $1 AND next_at = to_timestamp($2::float8 / 1000)
       RETURNING schedule
     )
     INSERT INTO runs (location, kind, not_before)
     SELECT location, 'sync',
       now() + ('x' || substr(md5(location), 1, 7))::bit(28)::int::float8 / 268435456 * $4 * interval '1 millisecond'
     FROM locations
     WHERE NOT paused AND EXISTS (SELECT FROM night) AND to_timestamp($2::float8 / 1000) > now() - interval '1 day'
     ON CONFLICT (location) WHERE state IN ${openStates} DO NOTHING
     RETURNING location`,
    schedule,
    at,
    next,
    jitterMs
  ).pipe(Effect.tap(wakeWorkers))
