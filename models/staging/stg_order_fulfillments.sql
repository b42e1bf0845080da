-- Deliveries of orders.
SELECT
  location_id,
  order_id,
  id,
  created_at,
  updated_at,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'order_fulfillments') }}
WHERE _deleted_at IS NULL
