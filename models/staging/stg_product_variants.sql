-- Ways in which each product varies, for example its size.
SELECT
  location_id,
  product_id,
  id,
  name,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'product_variants') }}
WHERE _deleted_at IS NULL
