-- Appointments of all calendars, from 2000 to two years ahead.
SELECT
  location_id,
  id,
  calendar_id,
  contact_id,
  title,
  appointment_status,
  assigned_user_id,
  group_id,
  address,
  notes,
  created_by_id,
  created_by_source,
  created_by_channel,
  created_by,
  date_added,
  start_time,
  end_time,
  master_event_id,
  is_recurring,
  rrule,
  deleted,
  date_updated,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'appointments') }}
WHERE _deleted_at IS NULL
