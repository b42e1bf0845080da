-- Blog sites.
SELECT
  location_id,
  id,
  name,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'blogs') }}
WHERE _deleted_at IS NULL
