-- Files of each saved template.
SELECT
  location_id,
  saved_template_id,
  position,
  url,
  kind,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'saved_template_attachments') }}
WHERE _deleted_at IS NULL
