-- Times that could still be booked when the calendar was read.
SELECT
  location_id,
  calendar_id,
  date,
  starts_at,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'free_slots') }}
WHERE _deleted_at IS NULL
