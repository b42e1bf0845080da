/**
 * The tables of the fleet, by which workers share the locations: nothing else decides who runs one.
 *
 * A run is `queued` until its time has come and a worker is free, then `running`, or `cancelling` if somebody stops it. It
 * ends as `done`, `partial`, `failed` or `cancelled`. One that is tried again later is `waiting`. A location has at most one
 * run that has not ended.
 *
 * A worker that runs a location owns it until `lease_until`, which it extends every second. `generation` increases with
 * each owner, and an owner changes rows only while the generation is its own.
 */
export const openStates = "('queued', 'waiting', 'running', 'cancelling')"

/** SQL for epoch milliseconds. */
export const epochMs = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::float8`

/** Several workers may start at once, and only one of them creates the tables. */
export const createTables = `
  DO $create$ BEGIN
  PERFORM pg_advisory_xact_lock(7354118, 1);
  CREATE SCHEMA IF NOT EXISTS sluice_fleet;
  CREATE TABLE IF NOT EXISTS sluice_fleet.locations (
    location text PRIMARY KEY,
    name text,
    token text,
    added_at timestamptz NOT NULL DEFAULT now(),
    paused boolean NOT NULL DEFAULT false,
    fresh_at timestamptz,
    requests_left integer,
    requests_left_at timestamptz,
    owner text,
    generation bigint NOT NULL DEFAULT 0,
    lease_until timestamptz,
    ended_cleanly boolean NOT NULL DEFAULT true,
    snapshot text,
    cache text
  );
  COMMENT ON COLUMN sluice_fleet.locations.token IS 'Reference to the token of the location, never the token itself';
  COMMENT ON COLUMN sluice_fleet.locations.fresh_at IS 'Start of the last complete run';
  COMMENT ON COLUMN sluice_fleet.locations.snapshot IS 'Name of the manifest of its folder in the bucket';
  -- A database of an earlier version.
  IF NOT EXISTS (SELECT FROM information_schema.columns
      WHERE table_schema = 'sluice_fleet' AND table_name = 'locations' AND column_name = 'cache') THEN
    ALTER TABLE sluice_fleet.locations ADD COLUMN cache text;
  END IF;
  COMMENT ON COLUMN sluice_fleet.locations.cache IS 'Where a copy of its folder is that may still be the newest';
  COMMENT ON COLUMN sluice_fleet.locations.ended_cleanly IS 'Whether the last run stored its recent requests';
  CREATE TABLE IF NOT EXISTS sluice_fleet.runs (
    run bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    location text NOT NULL REFERENCES sluice_fleet.locations ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('sync', 'full', 'backfill')),
    window_from text,
    window_to text,
    requested_at timestamptz NOT NULL DEFAULT now(),
    not_before timestamptz NOT NULL DEFAULT now(),
    state text NOT NULL DEFAULT 'queued',
    attempts integer NOT NULL DEFAULT 0,
    failures integer NOT NULL DEFAULT 0,
    worker text,
    started_at timestamptz,
    ended_at timestamptz,
    exit_code integer,
    requests integer,
    message text
  );
  CREATE TABLE IF NOT EXISTS sluice_fleet.schedules (
    schedule text PRIMARY KEY,
    next_at timestamptz NOT NULL
  );
  COMMENT ON COLUMN sluice_fleet.schedules.next_at IS 'When the schedule queues a run of each location next';
  CREATE UNIQUE INDEX IF NOT EXISTS runs_open ON sluice_fleet.runs (location) WHERE state IN ${openStates};
  CREATE INDEX IF NOT EXISTS runs_by_location ON sluice_fleet.runs (location, run);
  END $create$`
