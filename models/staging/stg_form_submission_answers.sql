-- Answers of each submission.
SELECT
  location_id,
  form_submission_id,
  field,
  value,
  value_text,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'form_submission_answers') }}
WHERE _deleted_at IS NULL
