-- Services that carry the location's text messages and email.
SELECT
  location_id,
  id,
  name,
  type,
  is_default,
  channel,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'messaging_providers') }}
WHERE _deleted_at IS NULL
