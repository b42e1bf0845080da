-- To-dos of deals.
SELECT
  location_id,
  opportunity_id,
  id,
  title,
  body,
  due_date,
  completed,
  assigned_to,
  contact_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'opportunity_tasks') }}
WHERE _deleted_at IS NULL
