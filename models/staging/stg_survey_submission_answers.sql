-- Answers of each submission.
SELECT
  location_id,
  survey_submission_id,
  field,
  value,
  value_text,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'survey_submission_answers') }}
WHERE _deleted_at IS NULL
