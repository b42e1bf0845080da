-- What came in is a row of the day on which it was paid, and what went back one of the day on which it did, with a negative value.
-- So the revenue of a month stays as it is when a payment of it is refunded later. The service sends no day of a refund: it is
-- that of the last change of the record in the first reading that showed it, or else of that reading. A dispute that is won is
-- money that comes back in.
WITH refunds AS (
  SELECT
    location_id,
    id AS payment_id,
    seen_at,
    updated_at,
    CASE WHEN counts_as IN ('received', 'returned') THEN refunded_amount END AS refunded,
    lag(refunded IGNORE NULLS) OVER (PARTITION BY location_id, id ORDER BY seen_at) AS refunded_before
  FROM {{ ref('payment_versions') }}
), moves AS (
  SELECT location_id, payment_id, 0 AS change_number, 'received' AS kind, amount AS value, paid_at AS moved_at, true AS is_day_sent
  FROM {{ ref('fct_payment') }}
  WHERE is_succeeded
  UNION ALL
  SELECT
    refunds.location_id,
    payment_id,
    row_number() OVER (PARTITION BY refunds.location_id, payment_id ORDER BY seen_at),
    'refunded',
    TRY((coalesce(refunded_before, 0) - refunded)::DECIMAL(38, 7)),
    coalesce(updated_at, seen_at),
    false
  FROM refunds
  WHERE refunded <> coalesce(refunded_before, 0)
)
SELECT
  moves.location_id,
  moves.payment_id,
  moves.change_number,
  moves.kind,
  payments.contact_id,
  payments.is_live,
  payments.currency,
  moves.value,
  moves.moved_at,
  moves.moved_at AT TIME ZONE locations.time_zone AS moved_local,
  moved_local::DATE AS moved_local_date,
  moves.is_day_sent
FROM moves
JOIN {{ ref('fct_payment') }} AS payments USING (location_id, payment_id)
LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
WHERE payments.is_succeeded
