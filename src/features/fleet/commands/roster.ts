/** What people do with the fleet: its locations, and the runs that they hold, cancel and watch. */
import * as Effect from "effect/Effect"
import type { Db } from "pg-boss"
import { itemAt } from "../../../catalog/present.ts"
import { inTransaction, query, rowsOf } from "../database.ts"
import { type Chosen, chosen, isChosen } from "../jobs.ts"
import { heldUntil, queues } from "../tables.ts"
import type { fleetResults } from "../results.ts"

/** The chosen locations that the fleet does not have. */
export const unknownOf = (locations: Chosen) =>
  query<{ readonly location: string }>(
    `SELECT location FROM jsonb_array_elements_text($1::jsonb) AS one (location)
     WHERE location NOT IN (SELECT location FROM sluice_fleet.locations)`,
    JSON.stringify(locations ?? [])
  ).pipe(Effect.map((rows) => rows.map(({ location }) => location)))

export interface NewLocation {
  readonly location: string
  readonly name?: string | undefined
  /** Reference to the token. */
  readonly token?: string | undefined
}

/** Returns those that are new. A location that is known gets the new name and token, if there are any. */
export const addLocations = (locations: ReadonlyArray<NewLocation>) =>
  query<{ readonly location: string; readonly isNew: boolean }>(
    `INSERT INTO sluice_fleet.locations AS l (location, name, token)
     SELECT DISTINCT ON (location) location, name, token
     FROM jsonb_to_recordset($1::jsonb) AS one (location text, name text, token text)
     ON CONFLICT (location) DO UPDATE
       SET name = coalesce(excluded.name, l.name), token = coalesce(excluded.token, l.token)
     RETURNING location, xmax = 0 AS "isNew"`,
    JSON.stringify(locations)
  ).pipe(Effect.map((rows) => rows.filter(({ isNew }) => isNew).map(({ location }) => location)))

/** Returns those that were removed. Its runs are removed too, its folder is not; one that runs now stays. */
export const removeLocations = (locations: ReadonlyArray<string>) =>
  inTransaction(async (boss, db) => {
    const removed = await rowsOf<{ readonly location: string; readonly runs: ReadonlyArray<string> }>(
      db,
      `DELETE FROM sluice_fleet.locations AS l WHERE ${isChosen()} AND NOT EXISTS (
         SELECT FROM sluice_fleet.runs AS r WHERE r.location = l.location AND state IN ('running', 'cancelling'))
       RETURNING location, ARRAY(SELECT run FROM sluice_fleet.runs AS r WHERE r.location = l.location) AS runs`,
      chosen(locations)
    )
    const runs = removed.flatMap((one) => one.runs)
    if (runs.length > 0) await boss.deleteJob(queues.runs, runs, { db })
    return removed.map(({ location }) => location)
  })

/** Returns the locations that were not so before. A run that has begun continues; another one waits for the end of the pause. */
export const setPaused = (locations: Chosen, isPaused: boolean) =>
  inTransaction(async (boss, db) => {
    const changed = await rowsOf<{ readonly location: string }>(
      db,
      `UPDATE sluice_fleet.locations SET paused = $2 WHERE ${isChosen()} AND paused <> $2 RETURNING location`,
      chosen(locations),
      isPaused
    )
    const names = changed.map(({ location }) => location)
    for (const { run } of await openRuns(db, names, isPaused ? "not_before IS NOT NULL" : "not_before IS NULL"))
      await boss.update(queues.runs, undefined, { id: run, startAfter: isPaused ? heldUntil : 0, db })
    return names
  })

/** Returns the locations whose runs end now, or as soon as their worker has stopped them. */
export const cancel = (locations: Chosen) =>
  inTransaction(async (boss, db) => {
    const open = await openRuns(db, locations, "true")
    if (open.length > 0)
      await boss.cancel(
        queues.runs,
        open.map(({ run }) => run),
        { db }
      )
    return open.map(({ location }) => location)
  })

const openRuns = (db: Db, locations: Chosen, condition: string) =>
  rowsOf<{ readonly run: string; readonly location: string }>(
    db,
    `SELECT run, location FROM sluice_fleet.runs
     WHERE state IN ('queued', 'waiting', 'running') AND ${condition} AND ${isChosen()}`,
    chosen(locations)
  )

/** As the result of `fleet status` has it. */
export type LocationStatus = ReturnType<typeof fleetResults>["fleet-status"]["Type"]["locations"][number]

/** SQL for an instant of a result. */
const instant = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** PostgreSQL would compile statements about this many locations for longer than it then saves. */
const uncompiled = <Row extends object>(sql: string, ...parameters: ReadonlyArray<string | number | null>) =>
  inTransaction(async (_, db) => {
    await db.executeSql("SET LOCAL jit = off", [])
    return rowsOf<Row>(db, sql, ...parameters)
  })

/** Each chosen location with its last run. */
const withLastRun = `sluice_fleet.locations AS l LEFT JOIN LATERAL (
  SELECT * FROM sluice_fleet.runs AS r WHERE r.location = l.location ORDER BY requested_at DESC LIMIT 1) AS r ON true
  WHERE ${isChosen("l.location")}`

export const statusOfFleet = (locations: Chosen) =>
  uncompiled<{ readonly one: LocationStatus }>(
    `SELECT jsonb_strip_nulls(jsonb_build_object('location', l.location, 'name', l.name, 'paused', l.paused,
       'state', coalesce(r.state, 'none'), 'kind', r.kind, 'attempts', r.attempts, 'exitCode', r.exit_code,
       'message', r.message, 'owner', CASE WHEN r.state IN ('running', 'cancelling') THEN r.worker END,
       -- What was left on another day of the service says nothing of today.
       'requestsLeft', CASE WHEN l.requests_left_at > now() - interval '24 hours' THEN l.requests_left END,
       'freshAt', ${instant("l.fresh_at")}, 'requestedAt', ${instant("r.requested_at")},
       'notBefore', ${instant("r.not_before")}, 'startedAt', ${instant("r.started_at")},
       'endedAt', ${instant("r.ended_at")})) AS one
     FROM ${withLastRun}
     ORDER BY l.fresh_at NULLS FIRST, l.location`,
    chosen(locations)
  ).pipe(Effect.map((rows) => rows.map(({ one }) => one)))

/** How many of the chosen locations the fleet has. */
export const countOf = (locations: Chosen) =>
  query<{ readonly count: number }>(
    `SELECT count(*)::int AS count FROM sluice_fleet.locations WHERE ${isChosen()}`,
    chosen(locations)
  ).pipe(Effect.map((rows) => itemAt(rows, 0).count))

/**
 * How many locations there are in each state, and those that are not done: at most so many, of which those that only wait for
 * their turn are the last to be chosen.
 */
export const overviewOfFleet = Effect.fnUntraced(function* (max: number) {
  const rows = yield* uncompiled<{
    readonly counts: Readonly<Record<string, number>>
    readonly listed: ReadonlyArray<string>
  }>(
    `WITH last AS MATERIALIZED (
       SELECT l.location, l.fresh_at, coalesce(r.state, 'none') AS state FROM ${withLastRun})
     SELECT (SELECT coalesce(jsonb_object_agg(state, count), '{}')
         FROM (SELECT state, count(*) FROM last GROUP BY state) AS one) AS counts,
       ARRAY(SELECT location FROM last WHERE state <> 'done'
         ORDER BY state <> 'failed', state IN ('queued', 'none'), fresh_at NULLS FIRST, location LIMIT $2) AS listed`,
    null,
    max
  )
  const { counts, listed } = itemAt(rows, 0)
  return { counts, locations: listed.length === 0 ? [] : yield* statusOfFleet(listed) }
})
