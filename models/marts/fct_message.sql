-- Activities and internal comments are in the list of messages, but nobody outside the account sends or receives them.
SELECT
  messages.location_id,
  messages.id AS message_id,
  messages.conversation_id,
  messages.contact_id,
  messages.user_id,
  messages.message_type,
  messages.direction,
  messages.status AS message_status,
  states.counts_as,
  messages.source,
  coalesce(messages.message_type LIKE 'TYPE_ACTIVITY%', false) AS is_activity,
  coalesce(messages.message_type LIKE 'TYPE_INTERNAL_COMMENT%', false) AS is_internal_comment,
  coalesce(messages.message_type NOT LIKE 'TYPE_ACTIVITY%' AND messages.message_type NOT LIKE 'TYPE_INTERNAL_COMMENT%', true) AS is_between_people,
  messages.date_added AS sent_at,
  messages.date_added AT TIME ZONE locations.time_zone AS sent_local,
  sent_local::DATE AS sent_local_date,
  messages.call_duration_seconds,
  messages._synced_at
FROM {{ ref('stg_messages') }} AS messages
LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
LEFT JOIN {{ ref('dim_state') }} AS states ON states.fact = 'fct_message' AND states.state = lower(trim(messages.status))
