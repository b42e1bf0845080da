-- Automations of the account. What starts them and what they do is not readable.
SELECT
  location_id,
  id,
  name,
  status,
  version,
  created_at,
  updated_at,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'workflows') }}
WHERE _deleted_at IS NULL
