-- Stages of each pipeline, in order.
SELECT
  location_id,
  pipeline_id,
  id,
  name,
  position,
  show_in_funnel,
  show_in_pie_chart,
  stage_win_probability,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'pipeline_stages') }}
WHERE _deleted_at IS NULL
