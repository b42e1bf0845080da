-- Authors that blog posts name.
SELECT
  location_id,
  id,
  name,
  canonical_link,
  updated_at,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'blog_authors') }}
WHERE _deleted_at IS NULL
