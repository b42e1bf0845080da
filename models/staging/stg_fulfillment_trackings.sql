-- Parcels of each delivery.
SELECT
  location_id,
  order_fulfillment_id,
  position,
  tracking_number,
  shipping_carrier,
  tracking_url,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'fulfillment_trackings') }}
WHERE _deleted_at IS NULL
