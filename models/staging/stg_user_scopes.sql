-- API scopes of each user.
SELECT
  location_id,
  user_id,
  scope,
  assigned_only,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'user_scopes') }}
WHERE _deleted_at IS NULL
