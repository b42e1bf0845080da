-- Emails with their text, which the messages leave out. A message can hold several of one thread.
SELECT
  location_id,
  id,
  thread_id,
  conversation_id,
  contact_id,
  direction,
  status,
  subject,
  body,
  content_type,
  from_address,
  date_added,
  reply_to_message_id,
  source,
  provider,
  conversation_provider_id,
  alt_id,
  error,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'emails') }}
WHERE _deleted_at IS NULL
