-- Inbound phone number of each user in each location.
SELECT
  location_id,
  user_id,
  phone_location_id,
  phone,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'user_phones') }}
WHERE _deleted_at IS NULL
