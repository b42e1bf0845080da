-- Further addresses of each contact.
SELECT
  location_id,
  contact_id,
  email,
  valid_email,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'contact_emails') }}
WHERE _deleted_at IS NULL
