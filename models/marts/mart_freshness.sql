-- Ages are relative to the newest run in this file.
WITH latest AS (
  SELECT location_id, resource, arg_max(status, finished_at) AS last_status, max(finished_at) AS last_finished_at
  FROM {{ source('meta', 'run_resources') }}
  WHERE finished_at IS NOT NULL
  GROUP BY ALL
), newest AS (
  SELECT max(coalesce(finished_at, started_at)) AS newest_run_at FROM {{ source('meta', 'runs') }}
)
SELECT
  latest.location_id,
  latest.resource AS table_name,
  latest.last_status,
  latest.last_finished_at,
  watermarks.complete_at,
  watermarks.full_complete_at,
  ((epoch_ms(newest.newest_run_at) - epoch_ms(watermarks.complete_at)) / 3600000)::DECIMAL(18, 2) AS hours_since_complete
FROM latest
CROSS JOIN newest
LEFT JOIN {{ source('meta', 'watermarks') }} AS watermarks USING (location_id, resource)
