import {
  alias,
  boolean,
  changed,
  content,
  created,
  email,
  emailOrPhone,
  enumeration,
  id,
  identifier,
  instant,
  object,
  openEnum,
  personName,
  ref,
  text
} from "#catalog/fields.ts"
import { cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

const path = "/emails/locations/{locationId}/campaigns/bulk-actions"

export const bulkEmailCampaigns = defineList({
  table: "bulk_email_campaigns",
  description: "Emails that a user sent to chosen contacts at once.",
  source: "C 7.2 GET /emails/locations/{locationId}/campaigns/bulk-actions",
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
    linked: { url: "editorContentUrl", as: "body" },
    fields: {
      fromEmail: email("Address of the sender"),
      replyToAddress: email("Address that answers go to"),
      previewText: content("Line that mail programs show beside the subject"),
      editorType: enumeration(["html", "builder", "text"], "What it was written with"),
      isPlainText: boolean("Text without markup"),
      editorContentUrl: text("Link the body was fetched from"),
      body: content("The email itself, as HTML or text")
    }
  },
  tombstone: "deleted",
  fields: {
    id: id("Campaign id"),
    name: text("Name"),
    source: openEnum("What made it"),
    sourceId: identifier("Id its statistics are kept under"),
    status: enumeration(["processing", "scheduled", "paused", "complete", "cancelled"]),
    scheduleType: enumeration(["NOW", "SCHEDULED", "DRIP"], "When it is sent"),
    subject: content("Subject line"),
    fromName: personName("Name of the sender"),
    emailMetadata: object({
      subject: alias("subject"),
      name: alias("fromName"),
      from: emailOrPhone("Name and address of the sender, in one text"),
      templateId: ref("email_templates", "Template it was made from")
    }),
    deleted: boolean("Removed"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    completedAt: instant("When the last email was sent")
  }
})
