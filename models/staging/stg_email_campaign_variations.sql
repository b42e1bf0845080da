-- Versions that an A/B test compares, of each campaign.
SELECT
  location_id,
  email_campaign_id,
  source_id,
  is_winner,
  _extra,
  _synced_at,
  _run_id
FROM {{ source('crm', 'email_campaign_variations') }}
WHERE _deleted_at IS NULL
