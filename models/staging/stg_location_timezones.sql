-- Time zones the location offers.
SELECT
  location_id,
  timezone,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'location_timezones') }}
WHERE _deleted_at IS NULL
