-- A net amount that does not fit the column is NULL in its row.
-- Sums of payments are meaningful for one currency, and for payments that are live and succeeded. Whether one has is decided by
-- its state in dim_state, and what was kept of it by its amounts. fct_revenue has the days.
SELECT
  transactions.location_id,
  transactions.id AS payment_id,
  transactions.contact_id,
  transactions.invoice_id,
  transactions.subscription_id,
  transactions.entity_type,
  transactions.entity_source_type,
  transactions.entity_source_name,
  transactions.payment_provider_type,
  transactions.payment_method,
  transactions.status AS payment_status,
  transactions.counts_as,
  transactions.counts_as IN ('received', 'returned') AS is_succeeded,
  transactions.live_mode IS NOT FALSE AND transactions.mark_as_test IS NOT TRUE AS is_live,
  transactions.currency,
  transactions.amount,
  transactions.refunded_amount,
  TRY((transactions.amount - transactions.refunded_amount)::DECIMAL(38, 7)) AS net_amount,
  transactions.created_at AS paid_at,
  transactions.created_at AT TIME ZONE locations.time_zone AS paid_local,
  paid_local::DATE AS paid_local_date,
  transactions._synced_at
FROM {{ ref('payment_versions') }} AS transactions
LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
WHERE transactions.is_current
