-- Pictures and videos of each post.
SELECT
  location_id,
  social_post_id,
  position,
  url,
  type,
  media_id,
  caption,
  thumbnail,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'social_post_media') }}
WHERE _deleted_at IS NULL
