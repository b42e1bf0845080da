-- Each version of a transaction, with what its state counts as, and what of it went back: as the service sends it, or all of one
-- that counts as returned without an amount. The currency of an earlier version is as the service sent it.
SELECT
  versions.*,
  states.counts_as,
  coalesce(nullif(versions.amount_refunded, 0), CASE WHEN states.counts_as = 'returned' THEN versions.amount END, 0) AS refunded_amount
FROM (
  SELECT
    true AS is_current, _synced_at AS seen_at, location_id, id, contact_id, invoice_id, subscription_id, entity_type,
    entity_source_type, entity_source_name, payment_provider_type, payment_method, status, live_mode, mark_as_test,
    currency, amount, amount_refunded, created_at, updated_at, _synced_at
  FROM {{ ref('stg_transactions') }}
  UNION ALL
  SELECT
    false, _valid_from, location_id, id, contact_id, invoice_id, subscription_id, entity_type,
    entity_source_type, entity_source_name, payment_provider_type, payment_method, status, live_mode, mark_as_test,
    currency, amount, amount_refunded, created_at, updated_at, _synced_at
  FROM {{ source('crm_history', 'transactions') }}
) AS versions
LEFT JOIN {{ ref('dim_state') }} AS states ON states.fact = 'fct_payment' AND states.state = lower(trim(versions.status))
