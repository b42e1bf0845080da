-- Sound of calls and voicemail, one file each.
SELECT
  location_id,
  message_id,
  path,
  bytes,
  sha256,
  content_type,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'recordings') }}
WHERE _deleted_at IS NULL
