-- Addresses each email went to.
SELECT
  location_id,
  email_id,
  address,
  kind,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'email_recipients') }}
WHERE _deleted_at IS NULL
