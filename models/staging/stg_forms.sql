-- Forms that visitors fill in.
SELECT
  location_id,
  id,
  name,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'forms') }}
WHERE _deleted_at IS NULL
