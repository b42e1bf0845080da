-- Surveys that visitors fill in.
SELECT
  location_id,
  id,
  name,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'surveys') }}
WHERE _deleted_at IS NULL
