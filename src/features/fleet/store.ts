/** What workers write about locations and their runs. Every statement is atomic, and does nothing if repeated. */
import * as Effect from "effect/Effect"
import { query } from "./cluster/database.ts"
import type { Outcome } from "./child.ts"
import { epochMs, openStates } from "./tables.ts"

/** Tells a worker to begin a run. A run that was put back or is tried again is sent with a higher `dispatches`. */
export interface Message {
  readonly location: string
  readonly run: number
  readonly dispatches: number
}

/** A run that a worker may begin. */
export interface OpenRun {
  readonly kind: "sync" | "full" | "backfill"
  readonly state: "queued" | "waiting" | "running" | "cancelling"
  readonly from: string | null
  readonly to: string | null
  readonly failures: number
  readonly token: string | null
  readonly paused: boolean
  /** Epoch milliseconds; 0 for never. */
  readonly freshAt: number
  /** Whether a worker works on the location, be it this one. */
  readonly isOwned: boolean
}

/** Undefined if the run has ended, or was sent again. */
export const openRun = ({ dispatches, run }: Message) =>
  query<OpenRun>(
    `SELECT kind, state, window_from AS "from", window_to AS "to", failures, token, paused,
       coalesce(${epochMs("fresh_at")}, 0) AS "freshAt", NOT ${isFree} AS "isOwned"
     FROM runs JOIN locations USING (location)
     WHERE run = $1 AND dispatches = $2 AND state IN ${openStates}`,
    run,
    dispatches
  ).pipe(Effect.map(([found]) => found))

const isFree = "(owner IS NULL OR lease_until < now())"

/**
 * A run that no worker has in hand, although its time came `lateMs` ago: its own worker is busy, or one died. At random, because
 * several may ask at once.
 */
export const lateRun = (lateMs: number) =>
  query<Message>(
    `SELECT run::float8 AS run, location, dispatches FROM runs JOIN locations USING (location)
     WHERE state IN ('queued', 'waiting', 'running') AND dispatched AND NOT paused AND ${isFree}
       AND not_before < now() - $1 * interval '1 millisecond'
     ORDER BY random() LIMIT 1`,
    lateMs
  ).pipe(Effect.map(([found]) => found))

/** Puts a run back for the dispatcher, because its location is paused. */
export const putBack = ({ run }: Message) =>
  query(
    `UPDATE runs SET dispatched = false, dispatches = dispatches + 1 WHERE run = $1 AND state IN ('queued', 'waiting')`,
    run
  )

/** Of one worker, from its start to its end. A restarted one is another. */
export interface Owner {
  readonly name: string
  /** How long a location stays its own without a sign of it. */
  readonly leaseMs: number
}

export interface Claim {
  readonly location: string
  readonly generation: string
  /** Whether the run before has stored what it sent last. */
  readonly endedCleanly: boolean
  /** The manifest of its folder in the bucket. */
  readonly snapshot: string | null
}

/** Undefined while another owns the location. */
export const claim = (location: string, { leaseMs, name }: Owner) =>
  query<Claim>(
    `UPDATE locations AS l
     SET owner = $2, generation = l.generation + 1, ended_cleanly = false,
       lease_until = now() + $3 * interval '1 millisecond'
     FROM (SELECT ended_cleanly AS was_clean FROM locations WHERE location = $1 FOR UPDATE) AS before
     WHERE l.location = $1 AND ${isFree}
     RETURNING l.location, l.generation::text, l.snapshot, was_clean AS "endedCleanly"`,
    location,
    name,
    leaseMs
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

export const begin = ({ run }: Message, worker: string) =>
  query(
    `UPDATE runs SET state = 'running', worker = $2, started_at = coalesce(started_at, now()), attempts = attempts + 1
     WHERE run = $1 AND state IN ('queued', 'waiting', 'running')`,
    run,
    worker
  )

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
  )

export interface Result extends Pick<Outcome, "exitCode" | "message" | "requests" | "requestsLeft" | "isClean"> {
  readonly state: "done" | "partial" | "failed" | "cancelled" | "waiting"
  /** Epoch milliseconds. */
  readonly notBefore: number | undefined
  readonly isFailure: boolean
}

/** Stores how a run ended, and frees its location. False if the location belongs to another worker now. */
export const finish = ({ run }: Message, { generation, location }: Claim, result: Result) =>
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
     )
     UPDATE runs SET state = $5, exit_code = $6, message = $7, requests = $8, ended_at = now(),
       failures = failures + CASE WHEN $9 THEN 1 ELSE 0 END, dispatched = false, dispatches = dispatches + 1,
       not_before = coalesce(to_timestamp($10::float8 / 1000), not_before)
     WHERE run = $4 AND EXISTS (SELECT FROM freed)
     RETURNING location`,
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

/** The runs whose time has come, oldest tables first. */
export const dueRuns = (limit: number) =>
  query<Message>(
    `SELECT run::float8 AS run, location, dispatches FROM runs JOIN locations USING (location)
     WHERE state IN ('queued', 'waiting') AND NOT dispatched AND not_before <= now() AND NOT paused
     ORDER BY fresh_at NULLS FIRST, run LIMIT $1`,
    limit
  )

/** Not if the run was put back or has ended since it was sent. */
export const markDispatched = ({ dispatches, run }: Message) =>
  query(`UPDATE runs SET dispatched = true WHERE run = $1 AND dispatches = $2`, run, dispatches)

/** The cluster keeps what it has done with a message for senders that wait for it, and the dispatcher does not. */
export const forgetHandled = query(
  `WITH handled AS (DELETE FROM cluster_messages WHERE processed RETURNING request_id)
   DELETE FROM cluster_replies WHERE request_id IN (SELECT request_id FROM handled)`
)

/** Queues a sync of every location, spread over the jitter by a hash of the location: each night at the same time. */
export const enqueueNight = (jitterMs: number) =>
  query<{ readonly location: string }>(
    `INSERT INTO runs (location, kind, not_before)
     SELECT location, 'sync',
       now() + ('x' || substr(md5(location), 1, 7))::bit(28)::int::float8 / 268435456 * $1 * interval '1 millisecond'
     FROM locations WHERE NOT paused
     ON CONFLICT (location) WHERE state IN ${openStates} DO NOTHING
     RETURNING location`,
    jitterMs
  )
