-- Do-not-disturb setting of each contact and channel.
SELECT
  location_id,
  contact_id,
  channel,
  status,
  message,
  code,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'contact_dnd_settings') }}
WHERE _deleted_at IS NULL
