-- Taxes on each product.
SELECT
  location_id,
  product_id,
  id,
  name,
  rate,
  calculation,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'product_taxes') }}
WHERE _deleted_at IS NULL
