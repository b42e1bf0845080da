-- Options of each choice field.
SELECT
  location_id,
  object_field_id,
  key,
  label,
  url,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'object_field_options') }}
WHERE _deleted_at IS NULL
