-- Lines of each order.
SELECT
  location_id,
  order_id,
  position,
  id,
  name,
  currency,
  product_id,
  product_name,
  product,
  price_id,
  unit_amount,
  price,
  qty,
  line_amount,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'order_items') }}
WHERE _deleted_at IS NULL
