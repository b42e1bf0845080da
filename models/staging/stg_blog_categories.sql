-- Categories that blog posts are sorted into.
SELECT
  location_id,
  id,
  label,
  url_slug,
  canonical_link,
  updated_at,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'blog_categories') }}
WHERE _deleted_at IS NULL
