-- Discount codes.
SELECT
  location_id,
  id,
  name,
  code,
  discount_type,
  discount_value,
  status,
  start_date,
  end_date,
  usage_count,
  usage_limit,
  limit_per_customer,
  apply_to_future_payments,
  apply_to_future_payments_config_type,
  apply_to_future_payments_config_duration,
  apply_to_future_payments_config_duration_type,
  created_at,
  updated_at,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'coupons') }}
WHERE _deleted_at IS NULL
