-- Templates that estimates are made from.
SELECT
  location_id,
  id,
  name,
  title,
  estimate_number_prefix,
  currency,
  business_details_name,
  business_details,
  discount_type,
  discount_value,
  total,
  live_mode,
  created_at,
  updated_at,
  automatic_taxes_enabled,
  terms_notes,
  attachments,
  miscellaneous_charges,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'estimate_templates') }}
WHERE _deleted_at IS NULL
