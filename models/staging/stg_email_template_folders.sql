-- Folders that email templates lie in.
SELECT
  location_id,
  id,
  name,
  type,
  child_count,
  has_children,
  parent_folder_id,
  created_at,
  updated_at,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'email_template_folders') }}
WHERE _deleted_at IS NULL
