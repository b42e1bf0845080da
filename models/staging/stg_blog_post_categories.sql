-- Categories of each post.
SELECT
  location_id,
  blog_post_id,
  category_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'blog_post_categories') }}
WHERE _deleted_at IS NULL
