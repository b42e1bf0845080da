-- Options of the product's variants that each price is for.
SELECT
  location_id,
  price_id,
  variant_option_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'price_variant_options') }}
WHERE _deleted_at IS NULL
