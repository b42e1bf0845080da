-- Prices that each picture or video belongs to.
SELECT
  location_id,
  product_id,
  product_media_id,
  price_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'product_media_prices') }}
WHERE _deleted_at IS NULL
