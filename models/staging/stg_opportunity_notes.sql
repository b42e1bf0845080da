-- Notes written on deals.
SELECT
  location_id,
  opportunity_id,
  id,
  body,
  user_id,
  title,
  contact_id,
  color,
  pinned,
  date_added,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'opportunity_notes') }}
WHERE _deleted_at IS NULL
