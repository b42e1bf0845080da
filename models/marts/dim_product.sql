SELECT
  location_id,
  id AS product_id,
  name AS product_name,
  product_type,
  available_in_store AS is_available_in_store,
  created_at,
  updated_at
FROM {{ ref('stg_products') }}
