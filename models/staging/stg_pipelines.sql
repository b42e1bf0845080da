-- Sales pipelines. Deleting one deletes its deals.
SELECT
  location_id,
  id,
  name,
  show_in_funnel,
  show_in_pie_chart,
  use_opportunity_probability,
  color_render_mode,
  position,
  date_added,
  date_updated,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'pipelines') }}
WHERE _deleted_at IS NULL
