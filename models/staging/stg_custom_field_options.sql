-- Options of each choice field.
SELECT
  location_id,
  custom_field_id,
  position,
  option,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'custom_field_options') }}
WHERE _deleted_at IS NULL
