-- Folders that the fields of custom objects and company records lie in.
SELECT
  location_id,
  id,
  name,
  object_key,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'object_folders') }}
WHERE _deleted_at IS NULL
