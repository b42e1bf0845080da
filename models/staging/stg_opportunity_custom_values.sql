-- Filled custom fields of each deal.
SELECT
  location_id,
  opportunity_id,
  custom_field_id,
  key,
  value,
  value_text,
  type,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'opportunity_custom_values') }}
WHERE _deleted_at IS NULL
