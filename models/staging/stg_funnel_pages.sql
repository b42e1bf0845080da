-- Pages of funnels.
SELECT
  location_id,
  id,
  funnel_id,
  name,
  step_id,
  deleted,
  updated_at,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'funnel_pages') }}
WHERE _deleted_at IS NULL
