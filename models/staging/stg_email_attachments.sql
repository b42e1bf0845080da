-- Files sent with emails.
SELECT
  location_id,
  email_id,
  position,
  url,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'email_attachments') }}
WHERE _deleted_at IS NULL
