-- Message texts kept for reuse, the deleted ones too.
SELECT
  location_id,
  id,
  name,
  type,
  template_body,
  template_subject,
  template_html,
  date_added,
  deleted,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'saved_templates') }}
WHERE _deleted_at IS NULL
