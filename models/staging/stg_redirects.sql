-- Addresses that lead to another.
SELECT
  location_id,
  id,
  domain,
  path,
  path_lowercase,
  type,
  target,
  action,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'redirects') }}
WHERE _deleted_at IS NULL
