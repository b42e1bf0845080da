-- To-dos that come again by a schedule.
SELECT
  location_id,
  id,
  title,
  description,
  contact_id,
  assigned_to,
  rrule_interval_type,
  rrule_interval,
  rrule_start_date,
  rrule_end_date,
  rrule_due_after_seconds,
  rrule_day_of_month,
  rrule_day_of_week,
  rrule_month_of_year,
  rrule_count,
  rrule_create_task_if_over_due,
  total_occurrence,
  deleted,
  created_at,
  updated_at,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'recurring_tasks') }}
WHERE _deleted_at IS NULL
