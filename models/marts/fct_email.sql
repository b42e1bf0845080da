-- An e-mail that was read or answered was opened; the service reports one status only.
SELECT
  emails.location_id,
  emails.id AS email_id,
  emails.conversation_id,
  emails.contact_id,
  emails.direction,
  emails.source,
  emails.status AS email_status,
  states.counts_as,
  emails.direction = 'outbound' AND states.counts_as IN ('sent', 'opened') AS is_sent,
  emails.direction = 'outbound' AND states.counts_as = 'opened' AS is_opened,
  emails.direction = 'outbound' AND states.counts_as = 'failed' AS is_failed,
  emails.date_added AS sent_at,
  emails.date_added AT TIME ZONE locations.time_zone AS sent_local,
  sent_local::DATE AS sent_local_date
FROM {{ ref('stg_emails') }} AS emails
LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
LEFT JOIN {{ ref('dim_state') }} AS states ON states.fact = 'fct_email' AND states.state = lower(trim(emails.status))
