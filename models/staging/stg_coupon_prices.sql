-- Prices each coupon is restricted to.
SELECT
  location_id,
  coupon_id,
  price_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'coupon_prices') }}
WHERE _deleted_at IS NULL
