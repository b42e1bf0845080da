-- Filled custom fields of each contact.
SELECT
  location_id,
  contact_id,
  custom_field_id,
  key,
  value,
  value_text,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'contact_custom_values') }}
WHERE _deleted_at IS NULL
