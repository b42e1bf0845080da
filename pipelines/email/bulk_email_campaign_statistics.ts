import { campaignStatistics } from "#catalog/campaign-statistics.ts"

export const bulkEmailCampaignStatistics = campaignStatistics("bulk_email_campaign_statistics", "bulk-actions", {
  table: "bulk_email_campaigns",
  where: "status <> 'scheduled'",
  versionColumn: "updated_at"
})
