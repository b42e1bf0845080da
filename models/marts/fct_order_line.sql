-- The amounts of the lines add up to the subtotal of the order, before its discount.
SELECT
  items.location_id,
  items.order_id,
  items.position,
  orders.contact_id,
  orders.status AS order_status,
  orders.payment_status,
  states.counts_as,
  orders.live_mode IS NOT FALSE AS is_live,
  items.product_id,
  coalesce(products.product_name, items.product_name, items.name) AS product_name,
  items.price_id,
  items.qty,
  items.unit_amount,
  items.line_amount,
  coalesce(items.currency, orders.currency) AS currency,
  orders.created_at AS ordered_at,
  orders.created_at AT TIME ZONE locations.time_zone AS order_local,
  order_local::DATE AS order_local_date
FROM {{ ref('stg_order_items') }} AS items
JOIN {{ ref('stg_orders') }} AS orders ON orders.location_id = items.location_id AND orders.id = items.order_id
LEFT JOIN {{ ref('dim_location') }} AS locations ON locations.location_id = items.location_id
LEFT JOIN {{ ref('dim_state') }} AS states ON states.fact = 'fct_order_line' AND states.state = lower(trim(orders.payment_status))
LEFT JOIN {{ ref('dim_product') }} AS products
  ON products.location_id = items.location_id AND products.product_id = items.product_id
