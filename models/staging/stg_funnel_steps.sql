-- Steps of each funnel.
SELECT
  location_id,
  funnel_id,
  id,
  name,
  url,
  type,
  sequence,
  pages,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'funnel_steps') }}
WHERE _deleted_at IS NULL
