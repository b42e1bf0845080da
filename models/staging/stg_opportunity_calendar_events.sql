-- Appointments of deals.
SELECT
  location_id,
  opportunity_id,
  id,
  calendar_id,
  contact_id,
  title,
  appointment_status,
  assigned_user_id,
  start_time,
  end_time,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'opportunity_calendar_events') }}
WHERE _deleted_at IS NULL
