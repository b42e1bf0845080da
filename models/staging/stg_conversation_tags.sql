-- Tags of the contact of each conversation.
SELECT
  location_id,
  conversation_id,
  tag,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'conversation_tags') }}
WHERE _deleted_at IS NULL
