-- Whether an appointment is past is decided by the time at which appointments were last read completely, because tables do not
-- change by themselves.
SELECT
  appointments.location_id,
  appointments.id AS appointment_id,
  appointments.calendar_id,
  calendars.name AS calendar_name,
  appointments.contact_id,
  appointments.assigned_user_id,
  appointments.appointment_status,
  states.counts_as,
  states.counts_as = 'missed' AS is_no_show,
  states.counts_as = 'attended' AS is_attended,
  states.counts_as = 'cancelled' AS is_cancelled,
  appointments.start_time < greatest(readings.complete_at, appointments._synced_at) AS is_past,
  appointments.start_time,
  appointments.end_time,
  appointments.start_time AT TIME ZONE locations.time_zone AS start_local,
  start_local::DATE AS start_local_date,
  date_sub('minute', appointments.start_time, appointments.end_time) AS duration_minutes,
  appointments.date_added AS booked_at,
  appointments.created_by_source,
  appointments._synced_at
FROM {{ ref('stg_appointments') }} AS appointments
LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
LEFT JOIN {{ ref('dim_state') }} AS states ON states.fact = 'fct_appointment' AND states.state = lower(trim(appointments.appointment_status))
LEFT JOIN {{ source('meta', 'watermarks') }} AS readings
  ON readings.location_id = appointments.location_id AND readings.resource = 'appointments'
LEFT JOIN {{ ref('stg_calendars') }} AS calendars
  ON calendars.location_id = appointments.location_id AND calendars.id = appointments.calendar_id
WHERE appointments.deleted IS NOT TRUE
