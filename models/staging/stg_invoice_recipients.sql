-- Whom each invoice goes to.
SELECT
  location_id,
  invoice_id,
  address,
  kind,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'invoice_recipients') }}
WHERE _deleted_at IS NULL
