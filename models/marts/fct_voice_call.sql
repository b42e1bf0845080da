-- What was said is in the table voice_calls. A test call is none with a customer.
SELECT
  calls.location_id,
  calls.id AS voice_call_id,
  calls.contact_id,
  calls.agent_id AS voice_agent_id,
  agents.agent_name,
  calls.message_id,
  calls.trial_call IS TRUE AS is_trial,
  calls.duration,
  calls.created_at AS called_at,
  calls.created_at AT TIME ZONE locations.time_zone AS called_local,
  called_local::DATE AS called_local_date,
  calls._synced_at
FROM {{ ref('stg_voice_calls') }} AS calls
LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
LEFT JOIN {{ ref('stg_voice_agents') }} AS agents ON agents.location_id = calls.location_id AND agents.id = calls.agent_id
