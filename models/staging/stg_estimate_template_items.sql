-- Lines of each template.
SELECT
  location_id,
  estimate_template_id,
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
FROM {{ source('crm', 'estimate_template_items') }}
WHERE _deleted_at IS NULL
