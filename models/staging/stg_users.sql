-- People who work in the account.
SELECT
  location_id,
  id,
  name,
  first_name,
  last_name,
  email,
  phone,
  extension,
  roles_type,
  roles_role,
  roles_restrict_sub_account,
  platform_language,
  date_added,
  date_updated,
  totp_enabled,
  profile_photo,
  deleted,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'users') }}
WHERE _deleted_at IS NULL
