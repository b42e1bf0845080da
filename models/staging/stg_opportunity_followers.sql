-- Users who follow each deal.
SELECT
  location_id,
  opportunity_id,
  user_id,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'opportunity_followers') }}
WHERE _deleted_at IS NULL
