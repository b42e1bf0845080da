-- Notes written on contacts.
SELECT
  location_id,
  id,
  contact_id,
  body,
  body_text,
  user_id,
  title,
  color,
  pinned,
  date_added,
  date_updated,
  business_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'contact_notes') }}
WHERE _deleted_at IS NULL
