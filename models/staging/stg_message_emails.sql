-- Emails of each email message, one thread.
SELECT
  location_id,
  message_id,
  position,
  email_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'message_emails') }}
WHERE _deleted_at IS NULL
