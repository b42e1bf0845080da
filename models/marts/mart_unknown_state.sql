-- What the figures leave out: the records of a state that dim_state does not know, or of none, with their number and amount. Records
-- are counted by state first, so that only the few states are compared with those that are known.
WITH counted AS (
  SELECT location_id, 'fct_payment' AS fact, status AS state, currency, count(*) AS records, sum(amount) AS amount
  FROM {{ ref('stg_transactions') }} WHERE live_mode IS NOT FALSE AND mark_as_test IS NOT TRUE GROUP BY ALL
  UNION ALL
  SELECT location_id, 'fct_invoice', status, currency, count(*), sum(amount_due)
  FROM {{ ref('stg_invoices') }} WHERE live_mode IS NOT FALSE GROUP BY ALL
  UNION ALL
  SELECT location_id, 'fct_order_line', payment_status, currency, count(DISTINCT order_id), sum(line_amount)
  FROM {{ ref('fct_order_line') }} WHERE is_live AND counts_as IS NULL GROUP BY ALL
  UNION ALL
  SELECT location_id, 'fct_opportunity', status, locations.currency, count(*), sum(monetary_value)
  FROM {{ ref('stg_opportunities') }} LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id) GROUP BY ALL
  UNION ALL
  SELECT location_id, 'fct_appointment', appointment_status, NULL, count(*), NULL
  FROM {{ ref('stg_appointments') }} WHERE deleted IS NOT TRUE GROUP BY ALL
  UNION ALL
  SELECT location_id, 'fct_call', call_status, NULL, count(*), NULL
  FROM {{ ref('stg_messages') }} WHERE message_type IN ('TYPE_CALL', 'TYPE_CAMPAIGN_VOICEMAIL') GROUP BY ALL
  UNION ALL
  SELECT location_id, 'fct_email', status, NULL, count(*), NULL
  FROM {{ ref('stg_emails') }} WHERE direction = 'outbound' GROUP BY ALL
  UNION ALL
  SELECT location_id, 'fct_message', status, NULL, count(*), NULL
  FROM {{ ref('stg_messages') }}
  WHERE direction = 'outbound'
    AND coalesce(message_type NOT LIKE 'TYPE_ACTIVITY%' AND message_type NOT LIKE 'TYPE_INTERNAL_COMMENT%', true)
  GROUP BY ALL
  UNION ALL
  SELECT location_id, 'fct_document', document_status, currency, count(*), sum(amount)
  FROM {{ ref('fct_document') }} GROUP BY ALL
  UNION ALL
  SELECT location_id, 'fct_task', completed::VARCHAR, NULL, count(*), NULL
  FROM {{ ref('stg_tasks') }} WHERE deleted IS NOT TRUE GROUP BY ALL
)
SELECT counted.location_id, counted.fact, counted.state, counted.currency, counted.records, counted.amount
FROM counted
ANTI JOIN {{ ref('dim_state') }} AS known ON known.fact = counted.fact AND known.state = lower(trim(counted.state))
UNION ALL
SELECT location_id, 'fct_subscription_month', counted_status, currency, count(*), sum(price_per_month)
FROM (
  SELECT DISTINCT ON (location_id, subscription_id, counted_status) * FROM {{ ref('fct_subscription_month') }}
  WHERE is_live AND counts_as IS NULL ORDER BY location_id, subscription_id, counted_status, month_start DESC
) GROUP BY ALL
