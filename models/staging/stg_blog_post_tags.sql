-- Tags of each post.
SELECT
  location_id,
  blog_post_id,
  tag,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'blog_post_tags') }}
WHERE _deleted_at IS NULL
