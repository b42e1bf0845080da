-- "Overdue" is no status of the service: an invoice is overdue if something is due after its date, on the day on which the list
-- was last read completely. _synced_at is when the row last changed, which may be months ago.
WITH invoices AS (
  SELECT
    invoices.*,
    states.counts_as,
    (greatest(readings.complete_at, invoices._synced_at) AT TIME ZONE locations.time_zone)::DATE AS read_local_date
  FROM {{ ref('stg_invoices') }} AS invoices
  LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
  LEFT JOIN {{ ref('dim_state') }} AS states ON states.fact = 'fct_invoice' AND states.state = lower(trim(invoices.status))
  LEFT JOIN {{ source('meta', 'watermarks') }} AS readings
    ON readings.location_id = invoices.location_id AND readings.resource = 'invoices'
)
SELECT
  location_id,
  id AS invoice_id,
  invoice_number,
  name AS invoice_name,
  status AS invoice_status,
  counts_as,
  contact_id,
  currency,
  total,
  amount_paid,
  amount_due,
  issue_date,
  due_date,
  live_mode IS NOT FALSE AS is_live,
  counts_as = 'paid' AS is_paid,
  coalesce(counts_as = 'open' AND amount_due > 0 AND due_date < read_local_date, false) AS is_overdue,
  CASE
    WHEN counts_as = 'open' AND amount_due > 0 AND due_date < read_local_date
    THEN read_local_date - due_date
  END AS days_overdue,
  CASE
    WHEN counts_as <> 'open' OR amount_due <= 0 THEN NULL
    WHEN counts_as IS NULL OR amount_due IS NULL THEN 'unknown'
    WHEN due_date >= read_local_date OR due_date IS NULL THEN 'not due'
    WHEN read_local_date - due_date <= 30 THEN '1-30 days'
    WHEN read_local_date - due_date <= 60 THEN '31-60 days'
    ELSE 'over 60 days'
  END AS aging_bucket,
  created_at,
  _synced_at
FROM invoices
