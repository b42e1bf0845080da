-- Other records that each task is tied to.
SELECT
  location_id,
  task_id,
  position,
  object_key,
  record_id,
  relation_id,
  association_id,
  is_primary,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'task_relations') }}
WHERE _deleted_at IS NULL
