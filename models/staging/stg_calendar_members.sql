-- Users whose time each calendar gives away.
SELECT
  location_id,
  calendar_id,
  user_id,
  priority,
  is_primary,
  meeting_location_type,
  meeting_location,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'calendar_members') }}
WHERE _deleted_at IS NULL
