-- The numbers of a campaign are in fct_campaign_funnel, where its statistics are read. Its e-mails do not name it.
SELECT
  campaigns.location_id,
  campaigns.id AS email_campaign_id,
  campaigns.name AS campaign_name,
  campaigns.status AS campaign_status,
  campaigns.campaign_type,
  campaigns.source,
  campaigns.subject,
  campaigns.from_email,
  campaigns.created_at,
  campaigns.created_at AT TIME ZONE locations.time_zone AS created_local,
  created_local::DATE AS created_local_date,
  campaigns.updated_at
FROM {{ ref('stg_email_campaigns') }} AS campaigns
LEFT JOIN {{ ref('dim_location') }} AS locations USING (location_id)
WHERE campaigns.deleted IS NOT TRUE
