-- What each variant can be, for example small or large.
SELECT
  location_id,
  product_id,
  product_variant_id,
  id,
  name,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'product_variant_options') }}
WHERE _deleted_at IS NULL
