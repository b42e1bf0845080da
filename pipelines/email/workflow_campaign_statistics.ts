import { campaignStatistics } from "#catalog/campaign-statistics.ts"

export const workflowCampaignStatistics = campaignStatistics("workflow_campaign_statistics", "workflow-campaigns", {
  table: "workflow_campaigns",
  where: "status <> 'draft'",
  versionColumn: "updated_at"
})
