-- Profiles on social networks that posts go to.
SELECT
  location_id,
  id,
  platform,
  type,
  name,
  avatar,
  is_active,
  oauth_id,
  profile_id,
  expire,
  is_expired,
  meta,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'social_accounts') }}
WHERE _deleted_at IS NULL
