-- Accounts each post goes to.
SELECT
  location_id,
  social_post_id,
  account_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'social_post_accounts') }}
WHERE _deleted_at IS NULL
