import { openEnum, content, boolean, id, enumeration, rows, text, changed, created, email } from "#catalog/fields.ts"
import { identifier, personName } from "#catalog/fields.ts"
import { cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

export const emailCampaigns = defineList({
  table: "email_campaigns",
  description: "Emails sent, or to be sent, to many contacts at once.",
  source: "B 2.1, B 4.1 GET /emails/locations/{locationId}/campaigns/emails, GET …/emails/{campaignId}",
  scope: "emails/campaigns.readonly",
  full: [
    byOffset(
      get("/emails/locations/{locationId}/campaigns/emails", {
        status: "all",
        limit: size,
        offset: cursorOr(0)
      }),
      { records: "campaigns", pageSize: 20, total: "total" }
    )
  ],
  getOne: { request: get("/emails/locations/{locationId}/campaigns/emails/{campaignId}"), record: "" },
  detail: {
    versionColumn: "updated_at",
    refreshAfter: "60 days",
    linked: { url: "editorContentUrl", as: "body" },
    fields: {
      editorType: enumeration(["html", "builder", "text"], "What it was written with"),
      isPlainText: boolean("Text without markup"),
      fromName: personName("Name of the sender"),
      fromEmail: email("Address of the sender"),
      subject: content("Subject line"),
      replyToAddress: email("Address that answers go to"),
      previewText: content("Line that mail programs show beside the subject"),
      editorContentUrl: text("Link the body was fetched from"),
      body: content("The email itself, as HTML or text")
    }
  },
  tombstone: "deleted",
  fields: {
    id: id("Campaign id"),
    name: text("Name"),
    status: enumeration(["draft", "scheduled", "processing", "sent", "paused", "cancelled", "failed", "archived"]),
    source: openEnum("What made it"),
    sourceId: identifier("Id its statistics are kept under"),
    campaignType: openEnum("Kind of campaign"),
    campaignCategory: openEnum("Category of the campaign"),
    deleted: boolean("Removed"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    variations: rows(
      "email_campaign_variations",
      "Versions that an A/B test compares, of each campaign.",
      {
        sourceId: identifier("Id the version's statistics are kept under"),
        isWinner: boolean("The version that won")
      },
      ["source_id"]
    )
  }
})
