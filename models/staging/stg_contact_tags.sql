-- Tags of each contact.
SELECT
  location_id,
  contact_id,
  tag,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'contact_tags') }}
WHERE _deleted_at IS NULL
