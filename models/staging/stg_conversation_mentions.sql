-- Users mentioned in each conversation.
SELECT
  location_id,
  conversation_id,
  user_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'conversation_mentions') }}
WHERE _deleted_at IS NULL
