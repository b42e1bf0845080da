-- Changes of stage or status between two syncs are seen as one. The first row of an opportunity is no change: it is the state
-- in which it was first read, since the time at which the service says that it came to its stage, or was created.
WITH versions AS (
  SELECT location_id, id, pipeline_id, pipeline_stage_id, status, monetary_value, created_at, last_stage_change_at,
    last_status_change_at, _valid_from AS seen_at
  FROM {{ source('crm_history', 'opportunities') }}
  UNION ALL
  SELECT location_id, id, pipeline_id, pipeline_stage_id, status, monetary_value, created_at, last_stage_change_at,
    last_status_change_at, _synced_at
  FROM {{ source('crm', 'opportunities') }}
), changes AS (
  SELECT *,
    row_number() OVER (PARTITION BY location_id, id ORDER BY seen_at) = 1 AS is_first,
    lag(pipeline_stage_id) OVER (PARTITION BY location_id, id ORDER BY seen_at) AS from_stage_id,
    lag(status) OVER (PARTITION BY location_id, id ORDER BY seen_at) AS from_status
  FROM versions
)
SELECT
  location_id,
  id AS opportunity_id,
  row_number() OVER (PARTITION BY location_id, id ORDER BY seen_at) AS change_number,
  pipeline_id,
  from_stage_id,
  pipeline_stage_id AS to_stage_id,
  from_status,
  status AS to_status,
  monetary_value,
  locations.currency,
  is_first,
  CASE
    WHEN is_first THEN coalesce(last_stage_change_at, created_at)
    WHEN pipeline_stage_id IS DISTINCT FROM from_stage_id THEN coalesce(last_stage_change_at, seen_at)
    ELSE coalesce(last_status_change_at, seen_at)
  END AS changed_at,
  seen_at
FROM changes
LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
WHERE is_first OR pipeline_stage_id IS DISTINCT FROM from_stage_id OR status IS DISTINCT FROM from_status
