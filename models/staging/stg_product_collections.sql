-- Collections each product is in.
SELECT
  location_id,
  product_id,
  collection_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'product_collections') }}
WHERE _deleted_at IS NULL
