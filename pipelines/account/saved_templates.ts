import { content, boolean, id, object, enumeration, text, created } from "#catalog/fields.ts"
import { cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"
import { attachments } from "#catalog/shapes.ts"

/** Templates of text messages have their attachments in two members, `template.attachments` and `urlAttachments`. */
const filesIn = (kind: string) => attachments("saved_template_attachments", "Files of each saved template.", { kind })

export const savedTemplates = defineList({
  table: "saved_templates",
  description: "Message texts kept for reuse, the deleted ones too.",
  source: "A 2.8, A 4.6 GET /locations/{locationId}/templates",
  scope: "locations/templates.readonly",
  full: [
    byOffset(get("/locations/{locationId}/templates", { originId: location, skip: cursorOr(0), limit: size }), {
      records: "templates",
      total: "totalCount"
    })
  ],
  partitions: {
    live: { parameters: { deleted: false }, columns: { deleted: false } },
    deleted: { parameters: { deleted: true }, columns: { deleted: true } }
  },
  tombstone: "deleted",
  fields: {
    id: id("Template id"),
    name: text("Name"),
    type: enumeration(["sms", "email", "whatsapp"]),
    template: object({
      body: content("Text of a short message"),
      subject: content("Subject line of an email"),
      html: content("Email as HTML"),
      attachments: filesIn("attachments")
    }),
    urlAttachments: filesIn("urlAttachments"),
    dateAdded: created("When the template was made"),
    deleted: boolean("Listed among the deleted templates")
  }
})
