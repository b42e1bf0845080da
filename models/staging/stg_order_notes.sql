-- Notes on orders, kept as they came: no document shows what a note holds.
SELECT
  location_id,
  order_id,
  id,
  body,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'order_notes') }}
WHERE _deleted_at IS NULL
