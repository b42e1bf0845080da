-- Products each coupon is restricted to.
SELECT
  location_id,
  coupon_id,
  product_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'coupon_products') }}
WHERE _deleted_at IS NULL
