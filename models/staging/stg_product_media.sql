-- Pictures and videos of each product.
SELECT
  location_id,
  product_id,
  id,
  url,
  type,
  title,
  is_featured,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'product_media') }}
WHERE _deleted_at IS NULL
