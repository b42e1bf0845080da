-- Locations each user can enter.
SELECT
  location_id,
  user_id,
  member_location_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'user_locations') }}
WHERE _deleted_at IS NULL
