SELECT
  messages.location_id,
  messages.id AS message_id,
  messages.conversation_id,
  messages.contact_id,
  messages.user_id,
  messages.direction,
  messages.call_status,
  states.counts_as,
  states.counts_as = 'answered' AS is_answered,
  states.counts_as = 'voicemail' OR messages.message_type = 'TYPE_CAMPAIGN_VOICEMAIL' AS is_voicemail,
  messages.call_duration_seconds,
  messages.date_added AS sent_at,
  messages.date_added AT TIME ZONE locations.time_zone AS sent_local,
  sent_local::DATE AS sent_local_date,
  messages._synced_at
FROM {{ ref('stg_messages') }} AS messages
LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
LEFT JOIN {{ ref('dim_state') }} AS states ON states.fact = 'fct_call' AND states.state = lower(trim(messages.call_status))
WHERE messages.message_type IN ('TYPE_CALL', 'TYPE_CAMPAIGN_VOICEMAIL')
