import {
  boolean,
  changed,
  content,
  created,
  email,
  enumeration,
  id,
  openEnum,
  personName,
  ref,
  rows,
  text
} from "#catalog/fields.ts"
import { cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

const path = "/emails/locations/{locationId}/campaigns/workflows"

export const workflowCampaigns = defineList({
  table: "workflow_campaigns",
  description: "Workflows that send emails, as campaigns.",
  source: "C 7.1 GET /emails/locations/{locationId}/campaigns/workflows",
  scope: "emails/campaigns.readonly",
  unproven: true,
  singleReads: "never",
  full: [
    byOffset(get(path, { limit: size, offset: cursorOr(0) }), { records: "campaigns", pageSize: 20, total: "total" })
  ],
  getOne: { request: get(`${path}/{campaignId}`), record: "" },
  detail: {
    versionColumn: "updated_at",
    refreshAfter: "60 days",
    fields: {
      subSources: rows(
        "workflow_campaign_steps",
        "Emails of each of these workflows.",
        {
          id: id("Step id"),
          name: text("Name"),
          subject: content("Subject line"),
          previewText: content("Line that mail programs show beside the subject"),
          fromName: personName("Name of the sender"),
          fromEmail: email("Address of the sender"),
          editorType: enumeration(["html", "builder", "text"], "What it was written with"),
          isPlainText: boolean("Text without markup"),
          editorContentUrl: text("Link to the body", { role: "file" }),
          createdAt: created("When it was made"),
          updatedAt: changed("Last change")
        },
        ["id"]
      )
    }
  },
  tombstone: "deleted",
  fields: {
    id: id("Campaign id"),
    name: text("Name of the workflow"),
    status: enumeration(["published", "draft"]),
    source: openEnum("What made it"),
    sourceId: ref("workflows", "The workflow; its statistics are kept under this id"),
    deleted: boolean("Removed"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change")
  }
})
