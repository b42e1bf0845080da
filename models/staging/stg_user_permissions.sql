-- What each user may do: one row per switch.
SELECT
  location_id,
  user_id,
  permission,
  enabled,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'user_permissions') }}
WHERE _deleted_at IS NULL
