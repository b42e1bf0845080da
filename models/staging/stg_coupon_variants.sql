-- Variants each coupon is restricted to.
SELECT
  location_id,
  coupon_id,
  variant_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'coupon_variants') }}
WHERE _deleted_at IS NULL
