-- The service keeps numbers of a campaign as a whole, and of each version that a test compares, but none of a day. Its rates are
-- left out, because they do not add up: they follow from the numbers.
WITH numbers AS (
  SELECT 'email_campaign' AS campaign_kind, * FROM {{ ref('stg_email_campaign_statistics') }}
  UNION ALL BY NAME
  SELECT 'workflow' AS campaign_kind, * FROM {{ ref('stg_workflow_campaign_statistics') }}
  UNION ALL BY NAME
  SELECT 'bulk_action' AS campaign_kind, * FROM {{ ref('stg_bulk_email_campaign_statistics') }}
), campaigns AS (
  SELECT location_id, 'email_campaign' AS campaign_kind, source_id, name FROM {{ ref('stg_email_campaigns') }}
  WHERE deleted IS NOT TRUE
  UNION ALL
  SELECT location_id, 'workflow', source_id, name FROM {{ ref('stg_workflow_campaigns') }}
  UNION ALL
  SELECT location_id, 'bulk_action', source_id, name FROM {{ ref('stg_bulk_email_campaigns') }}
)
SELECT
  numbers.location_id,
  numbers.campaign_kind,
  numbers.source_id,
  (
    SELECT max(campaigns.name) FROM campaigns
    WHERE campaigns.location_id = numbers.location_id AND campaigns.campaign_kind = numbers.campaign_kind
      AND campaigns.source_id = numbers.source_id
  ) AS campaign_name,
  numbers.sent,
  numbers.delivered,
  numbers.opened,
  numbers.clicked,
  numbers.replied,
  numbers.unsubscribed,
  numbers.complained,
  numbers.permanent_fail + numbers.temporary_fail AS bounced,
  numbers._synced_at
FROM numbers
