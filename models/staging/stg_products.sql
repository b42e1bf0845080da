-- What the account sells.
SELECT
  location_id,
  id,
  name,
  product_type,
  description,
  available_in_store,
  image,
  statement_descriptor,
  slug,
  seo_title,
  seo_description,
  is_taxes_enabled,
  tax_inclusive,
  automatic_tax_category_id,
  is_label_enabled,
  label_title,
  label_start_date,
  label_end_date,
  created_at,
  updated_at,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'products') }}
WHERE _deleted_at IS NULL
