/** What people do with the fleet: its locations, and the runs that they request, stop and watch. */
import * as Effect from "effect/Effect"
import { query, wakeWorkers } from "./database.ts"
import { epochMs, openStates } from "./tables.ts"

/** The locations that a statement concerns; undefined for all. */
export type Chosen = ReadonlyArray<string> | undefined

const chosen = (locations: Chosen): string | null => (locations === undefined ? null : JSON.stringify(locations))
/** The chosen locations are the first parameter of the statement. */
const isChosen = (column = "location") =>
  `($1::jsonb IS NULL OR ${column} IN (SELECT jsonb_array_elements_text($1::jsonb)))`
const namesOf = Effect.map((rows: ReadonlyArray<{ readonly location: string }>) => rows.map(({ location }) => location))

/** The chosen locations that the fleet does not have. */
export const unknownOf = (locations: Chosen) =>
  query<{ readonly location: string }>(
    `SELECT location FROM jsonb_array_elements_text($1::jsonb) AS one (location)
     WHERE location NOT IN (SELECT location FROM locations)`,
    JSON.stringify(locations ?? [])
  ).pipe(namesOf)

export interface NewLocation {
  readonly location: string
  readonly name?: string | undefined
  /** Reference to the token. */
  readonly token?: string | undefined
}

/** Returns those that are new. A location that is known gets the new name and token, if there are any. */
export const addLocations = (locations: ReadonlyArray<NewLocation>) =>
  query<{ readonly location: string; readonly isNew: boolean }>(
    `INSERT INTO locations (location, name, token)
     SELECT DISTINCT ON (location) location, name, token
     FROM jsonb_to_recordset($1::jsonb) AS one (location text, name text, token text)
     ON CONFLICT (location) DO UPDATE
       SET name = coalesce(excluded.name, locations.name), token = coalesce(excluded.token, locations.token)
     RETURNING location, xmax = 0 AS "isNew"`,
    JSON.stringify(locations)
  ).pipe(Effect.map((rows) => rows.filter(({ isNew }) => isNew).map(({ location }) => location)))

/** Returns those that were removed. Its runs are removed too, its folder is not; one that runs now stays. */
export const removeLocations = (locations: ReadonlyArray<string>) =>
  query<{ readonly location: string }>(
    `DELETE FROM locations WHERE ${isChosen()} AND (owner IS NULL OR lease_until < now()) RETURNING location`,
    chosen(locations)
  ).pipe(namesOf)

/** Returns the locations that have a new run. One that has an open run keeps it. */
export const enqueue = (
  locations: Chosen,
  run: {
    readonly kind: "sync" | "full" | "backfill"
    readonly from?: string | undefined
    readonly to?: string | undefined
  }
) =>
  query<{ readonly location: string }>(
    `INSERT INTO runs (location, kind, window_from, window_to)
     SELECT location, $2, $3, $4 FROM locations WHERE ${isChosen()}
     ON CONFLICT (location) WHERE state IN ${openStates} DO NOTHING
     RETURNING location`,
    chosen(locations),
    run.kind,
    run.from ?? null,
    run.to ?? null
  ).pipe(namesOf, Effect.tap(wakeWorkers))

/** Returns the locations that were not so before. A run that has begun continues. */
export const setPaused = (locations: Chosen, isPaused: boolean) =>
  query<{ readonly location: string }>(
    `UPDATE locations SET paused = $2 WHERE ${isChosen()} AND paused <> $2 RETURNING location`,
    chosen(locations),
    isPaused
  ).pipe(namesOf, Effect.tap(wakeWorkers))

/** Returns the locations whose runs end now, or as soon as their worker has stopped them. */
export const cancel = (locations: Chosen) =>
  query<{ readonly location: string }>(
    `UPDATE runs SET state = CASE WHEN state = 'running' THEN 'cancelling' ELSE 'cancelled' END,
       ended_at = CASE WHEN state = 'running' THEN NULL ELSE now() END
     WHERE state IN ('queued', 'waiting', 'running') AND ${isChosen()}
     RETURNING location`,
    chosen(locations)
  ).pipe(namesOf)

export interface LocationStatus {
  readonly location: string
  readonly name: string | null
  readonly paused: boolean
  /** The last run: `none` if there was none. */
  readonly state: string
  readonly kind: string | null
  readonly attempts: number | null
  readonly exitCode: number | null
  readonly message: string | null
  readonly owner: string | null
  readonly requestsLeft: number | null
  /** Epoch milliseconds. */
  readonly freshAt: number | null
  readonly requestedAt: number | null
  readonly notBefore: number | null
  readonly startedAt: number | null
  readonly endedAt: number | null
}

export const statusOfFleet = (locations: Chosen) =>
  query<LocationStatus>(
    `SELECT l.location, l.name, l.paused, r.kind, r.attempts,
       -- The worker has ended, and the next one begins it again when it has a place.
       CASE WHEN r.state = 'running' AND coalesce(l.lease_until < now(), true) THEN 'queued'
         ELSE coalesce(r.state, 'none') END AS state,
       r.exit_code AS "exitCode", r.message,
       CASE WHEN l.lease_until > now() THEN split_part(l.owner, ' ', 1) END AS owner,
       -- What was left on another day of the service says nothing of today.
       CASE WHEN l.requests_left_at > now() - interval '24 hours' THEN l.requests_left END AS "requestsLeft",
       ${epochMs("l.fresh_at")} AS "freshAt", ${epochMs("r.requested_at")} AS "requestedAt",
       ${epochMs("r.not_before")} AS "notBefore", ${epochMs("r.started_at")} AS "startedAt",
       ${epochMs("r.ended_at")} AS "endedAt"
     FROM locations AS l
     LEFT JOIN LATERAL (SELECT * FROM runs WHERE location = l.location ORDER BY run DESC LIMIT 1) AS r ON true
     WHERE ${isChosen("l.location")}
     ORDER BY l.fresh_at NULLS FIRST, l.location`,
    chosen(locations)
  )
