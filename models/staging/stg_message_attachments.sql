-- Files sent with messages.
SELECT
  location_id,
  message_id,
  position,
  url,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'message_attachments') }}
WHERE _deleted_at IS NULL
