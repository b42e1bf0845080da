-- To-dos attached to contacts, open and completed.
SELECT
  location_id,
  id,
  contact_id,
  title,
  body,
  due_date,
  completed,
  assigned_to,
  business_id,
  date_added,
  date_updated,
  deleted,
  contact_details,
  assigned_to_user_details,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'tasks') }}
WHERE _deleted_at IS NULL
