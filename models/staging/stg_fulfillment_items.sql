-- What each delivery holds.
SELECT
  location_id,
  order_fulfillment_id,
  id,
  name,
  product_id,
  product_name,
  product,
  price_id,
  unit_amount,
  currency,
  price,
  qty,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'fulfillment_items') }}
WHERE _deleted_at IS NULL
