-- Reusable emails, current and archived.
SELECT
  location_id,
  id,
  name,
  type,
  editor_type,
  is_plain_text,
  preview_url,
  parent_folder_id,
  archived,
  created_at,
  updated_at,
  from_name,
  from_email,
  subject,
  preview_text,
  editor_content_url,
  body,
  deleted,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'email_templates') }}
WHERE _deleted_at IS NULL
