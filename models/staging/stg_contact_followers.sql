-- Users who follow each contact.
SELECT
  location_id,
  contact_id,
  user_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'contact_followers') }}
WHERE _deleted_at IS NULL
