-- Whom each estimate goes to.
SELECT
  location_id,
  estimate_id,
  address,
  kind,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'estimate_recipients') }}
WHERE _deleted_at IS NULL
