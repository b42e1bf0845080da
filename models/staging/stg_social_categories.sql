-- Categories that social posts are sorted into.
SELECT
  location_id,
  id,
  name,
  primary_color,
  secondary_color,
  created_by_id,
  created_by_source,
  created_by_channel,
  created_by,
  created_at,
  updated_at,
  deleted,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'social_categories') }}
WHERE _deleted_at IS NULL
