-- Whether a task is overdue is decided by the time at which tasks were last read completely, because tables do not change by
-- themselves.
SELECT
  tasks.location_id,
  tasks.id AS task_id,
  tasks.contact_id,
  tasks.assigned_to AS assigned_user_id,
  tasks.completed AS is_completed,
  CASE tasks.completed WHEN true THEN 'done' WHEN false THEN 'open' END AS counts_as,
  tasks.due_date,
  tasks.due_date AT TIME ZONE locations.time_zone AS due_local,
  due_local::DATE AS due_local_date,
  NOT tasks.completed AND tasks.due_date < greatest(readings.complete_at, tasks._synced_at) AS is_overdue,
  CASE WHEN is_overdue THEN (greatest(readings.complete_at, tasks._synced_at) AT TIME ZONE locations.time_zone)::DATE - due_local_date END AS overdue_days,
  tasks.date_added AS created_at,
  tasks.date_updated AS updated_at,
  tasks._synced_at
FROM {{ ref('stg_tasks') }} AS tasks
LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
LEFT JOIN {{ source('meta', 'watermarks') }} AS readings
  ON readings.location_id = tasks.location_id AND readings.resource = 'tasks'
WHERE tasks.deleted IS NOT TRUE
