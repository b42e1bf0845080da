-- Lines of each invoice.
SELECT
  location_id,
  invoice_id,
  position,
  id,
  name,
  product_id,
  price_id,
  type,
  currency,
  amount,
  qty,
  taxes,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'invoice_items') }}
WHERE _deleted_at IS NULL
