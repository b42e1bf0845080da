-- Tags of each post.
SELECT
  location_id,
  social_post_id,
  tag_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'social_post_tags') }}
WHERE _deleted_at IS NULL
