-- Stock of each price, as the inventory shows it.
SELECT
  location_id,
  id,
  name,
  available_quantity,
  sku,
  allow_out_of_stock_purchases,
  product_id,
  product_name,
  updated_at,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'inventory') }}
WHERE _deleted_at IS NULL
