-- What was said on calls and voicemail, sentence by sentence.
SELECT
  location_id,
  message_id,
  media_channel,
  sentence_index,
  start_time,
  end_time,
  transcript,
  confidence,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'transcript_sentences') }}
WHERE _deleted_at IS NULL
