-- Membership offers that come with each price.
SELECT
  location_id,
  price_id,
  position,
  id,
  label,
  value,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'price_membership_offers') }}
WHERE _deleted_at IS NULL
