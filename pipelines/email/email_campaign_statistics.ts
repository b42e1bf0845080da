import { campaignStatistics } from "#catalog/campaign-statistics.ts"

export const emailCampaignStatistics = campaignStatistics("email_campaign_statistics", "email-campaigns", {
  table: "email_campaigns",
  // The versions of a test have statistics of their own.
  ids: "unnest([source_id] || coalesce((SELECT list(v.source_id) FROM crm.email_campaign_variations AS v WHERE v.email_campaign_id = email_campaigns.id), []))",
  where: "status NOT IN ('draft', 'scheduled')",
  versionColumn: "updated_at"
})
