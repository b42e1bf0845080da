/**
 * What is ours beside the tables of pg-boss, in the same schema: the locations, the fence, and runs as a view of its jobs.
 *
 * `fences` has one number a location, which increases with each owner. Whatever stores state of a location compares it, so
 * an owner that was thought dead and wakes up stores nothing.
 */
export const schema = "sluice_fleet"

/** The queues. A run that only a person can help goes from the first to the second. */
export const queues = { runs: "runs", failed: "failed-runs", nights: "nights" } as const

/** pg-boss fails a job without a sign of its worker for this long, and gives it to another. It allows no shorter time. */
export const heartbeatSeconds = 10

/** The start of a run that waits until its location is not paused any more. */
const held = "3000-01-01T00:00:00Z"
export const heldUntil = new Date(held)

const isAlive = `j.heartbeat_on > now() - interval '${heartbeatSeconds} seconds'`

export const runsView = `
  CREATE OR REPLACE VIEW sluice_fleet.runs AS
  SELECT j.id AS run, j.singleton_key AS location, j.data->>'kind' AS kind, j.data->>'from' AS window_from,
    j.data->>'to' AS window_to, j.created_on AS requested_at,
    CASE WHEN j.start_after < '${held}' THEN j.start_after END AS not_before,
    CASE
      WHEN j.state = 'created' THEN 'queued'
      -- A run whose worker is gone begins again as soon as another one is free.
      WHEN j.state = 'retry' THEN coalesce(j.output->>'state', 'queued')
      WHEN j.state = 'active' THEN CASE WHEN ${isAlive} THEN 'running' ELSE 'queued' END
      WHEN j.state = 'completed' THEN coalesce(j.output->>'state', 'done')
      WHEN j.state = 'cancelled' AND f.owner IS NOT NULL AND ${isAlive} THEN 'cancelling'
      ELSE j.state::text
    END AS state,
    j.retry_count + CASE WHEN j.started_on IS NULL THEN 0 ELSE 1 END AS attempts,
    coalesce((j.data->>'failures')::int, 0) AS failures,
    coalesce(j.output->>'worker', f.owner) AS worker,
    coalesce(f.begun_at, j.started_on) AS started_at, j.completed_on AS ended_at,
    (j.output->>'exitCode')::int AS exit_code, (j.output->>'requests')::int AS requests,
    j.output->>'message' AS message
  FROM sluice_fleet.job AS j LEFT JOIN sluice_fleet.fences AS f
    ON f.location = j.singleton_key AND f.run = j.id
  WHERE j.name = '${queues.runs}'`

/** The tables of the version before had the lease of a location and its open run. Its workers have to be stopped. */
const takeOver = `
  ALTER TABLE sluice_fleet.runs RENAME TO runs_before;
  INSERT INTO sluice_fleet.fences (location, number, ended_cleanly, snapshot)
  SELECT location, generation, ended_cleanly, snapshot FROM sluice_fleet.locations;
  INSERT INTO sluice_fleet.job (name, singleton_key, data, state, priority, start_after, created_on, started_on,
    completed_on, output, retry_count, policy, retry_limit, retry_delay, expire_seconds, deletion_seconds, keep_until,
    dead_letter, heartbeat_seconds)
  SELECT q.name, r.location,
    jsonb_strip_nulls(jsonb_build_object('kind', kind, 'from', window_from, 'to', window_to, 'failures', failures)),
    (CASE state WHEN 'queued' THEN 'created' WHEN 'waiting' THEN 'retry' WHEN 'running' THEN 'retry'
      WHEN 'failed' THEN 'failed' WHEN 'done' THEN 'completed' WHEN 'partial' THEN 'completed' ELSE 'cancelled'
      END)::sluice_fleet.job_state,
    coalesce(-floor(extract(epoch FROM l.fresh_at) / 60), 0)::int,
    CASE WHEN l.paused AND state IN ('queued', 'waiting') THEN '${held}' ELSE not_before END, requested_at, started_at,
    CASE WHEN state NOT IN ('queued', 'waiting', 'running') THEN coalesce(ended_at, now()) END,
    jsonb_strip_nulls(jsonb_build_object('state', CASE WHEN state <> 'running' THEN state END, 'exitCode', exit_code,
      'requests', requests, 'message', message, 'worker', split_part(worker, ' ', 1))),
    greatest(attempts - 1, 0), q.policy, q.retry_limit, q.retry_delay, q.expire_seconds, q.deletion_seconds,
    greatest(not_before, now()) + q.retention_seconds * interval '1 second', q.dead_letter, q.heartbeat_seconds
  FROM sluice_fleet.runs_before AS r JOIN sluice_fleet.locations AS l USING (location)
    JOIN sluice_fleet.queue AS q ON q.name = '${queues.runs}';
  DROP TABLE sluice_fleet.runs_before, sluice_fleet.schedules;
  ALTER TABLE sluice_fleet.locations DROP COLUMN owner, DROP COLUMN generation, DROP COLUMN lease_until,
    DROP COLUMN ended_cleanly, DROP COLUMN snapshot, DROP COLUMN IF EXISTS cache;`

/** After the tables of pg-boss. Several workers may start at once, and only one of them creates the tables. */
export const createTables = `
  BEGIN;
  SELECT pg_advisory_xact_lock(7354118, 1);
  DO $create$ BEGIN
  -- The last run of each location is found without reading those of 90 nights.
  IF to_regclass('sluice_fleet.runs_by_location') IS NULL THEN
    CREATE INDEX runs_by_location ON sluice_fleet.job (singleton_key, created_on DESC) WHERE name = '${queues.runs}';
    IF to_regclass('sluice_fleet.fences') IS NOT NULL THEN ${runsView};
    END IF;
  END IF;
  IF to_regclass('sluice_fleet.fences') IS NOT NULL THEN RETURN; END IF;
  CREATE TABLE IF NOT EXISTS sluice_fleet.locations (
    location text PRIMARY KEY,
    name text,
    token text,
    added_at timestamptz NOT NULL DEFAULT now(),
    paused boolean NOT NULL DEFAULT false,
    fresh_at timestamptz,
    requests_left integer,
    requests_left_at timestamptz
  );
  COMMENT ON COLUMN sluice_fleet.locations.token IS 'Reference to the token of the location, never the token itself';
  COMMENT ON COLUMN sluice_fleet.locations.fresh_at IS 'Start of the last complete run';
  CREATE TABLE sluice_fleet.fences (
    location text PRIMARY KEY,
    number bigint NOT NULL,
    run uuid,
    owner text,
    begun_at timestamptz,
    ended_cleanly boolean NOT NULL DEFAULT true,
    snapshot text
  );
  COMMENT ON COLUMN sluice_fleet.fences.number IS 'Increases with each owner; an owner stores nothing with an earlier one';
  COMMENT ON COLUMN sluice_fleet.fences.owner IS 'Until the owner has said how it ended';
  COMMENT ON COLUMN sluice_fleet.fences.ended_cleanly IS 'Whether the last owner stored its recent requests';
  COMMENT ON COLUMN sluice_fleet.fences.snapshot IS 'Name of the manifest of the folder in the bucket';
  IF to_regclass('sluice_fleet.runs') IS NOT NULL THEN ${takeOver}
  END IF;
  ${runsView};
  END $create$;
  COMMIT`
