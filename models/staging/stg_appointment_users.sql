-- Users who take part in each appointment.
SELECT
  location_id,
  appointment_id,
  user_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'appointment_users') }}
WHERE _deleted_at IS NULL
