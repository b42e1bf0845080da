-- Fields of custom objects and company records.
SELECT
  location_id,
  id,
  name,
  description,
  placeholder,
  field_key,
  data_type,
  object_key,
  parent_id,
  show_in_forms,
  allow_custom_option,
  accepted_formats,
  max_file_limit,
  date_added,
  date_updated,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'object_fields') }}
WHERE _deleted_at IS NULL
