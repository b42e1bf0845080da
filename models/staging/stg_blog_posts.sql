-- Posts of blogs, in every state.
SELECT
  location_id,
  id,
  blog_id,
  title,
  description,
  status,
  url_slug,
  canonical_link,
  author_id,
  image_url,
  image_alt_text,
  raw_html,
  word_count,
  archived,
  published_at,
  updated_at,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'blog_posts') }}
WHERE _deleted_at IS NULL
