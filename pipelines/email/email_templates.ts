import { alias, content, boolean, id, enumeration, ref, text, ignored, changed, created } from "#catalog/fields.ts"
import { email, personName } from "#catalog/fields.ts"
import { cursorOr, get, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

const byChange = (sortOrder: "asc" | "desc") =>
  byOffset(
    get("/emails/locations/{locationId}/templates", {
      include: "all",
      sortBy: "updatedAt",
      sortOrder,
      limit: size,
      offset: cursorOr(0)
    }),
    { records: "items", pageSize: 20, total: "total" }
  )

export const emailTemplates = defineList({
  table: "email_templates",
  description: "Reusable emails, current and archived.",
  source: "B 2.1, B 4.1 GET /emails/locations/{locationId}/templates, GET …/templates/{templateId}",
  scope: "emails/templates.readonly",
  // Least recently changed first, so that a template that changes during the read moves to a page not yet read.
  full: [byChange("asc")],
  partitions: {
    current: { parameters: { archived: false }, columns: { archived: false } },
    archived: { parameters: { archived: true }, columns: { archived: true } }
  },
  // A full reading finds deleted templates, and archived ones if archiving does not change the date.
  changes: {
    field: "updatedAt",
    overlap: "15 minutes",
    strategies: [{ ...byChange("desc"), stopBefore: "updatedAt" }],
    fullEvery: "7 days"
  },
  filter: { field: "type", is: "template" },
  getOne: { request: get("/emails/locations/{locationId}/templates/{templateId}"), record: "" },
  detail: {
    versionColumn: "updated_at",
    refreshAfter: "60 days",
    linked: { url: "editorContentUrl", as: "body" },
    fields: {
      fromName: personName("Name of the sender"),
      fromEmail: email("Address of the sender"),
      subject: content("Subject line"),
      subjectLine: alias("subject"),
      previewText: content("Line that mail programs show beside the subject"),
      editorContentUrl: text("Link the body was fetched from"),
      body: content("The email itself, as HTML or text"),
      deleted: boolean("Removed")
    }
  },
  fields: {
    id: id("Template id"),
    name: text("Name"),
    type: enumeration(["template"], "Kind of item; folders have a table of their own"),
    editorType: enumeration(["html", "builder", "text"], "What it was written with"),
    isPlainText: boolean("Text without markup"),
    previewUrl: text("Picture of it, as a link", { role: "file", personal: "none" }),
    parentFolderId: ref("email_template_folders", "Folder it lies in; NULL at the top level"),
    archived: boolean("Put away: listed among the archived"),
    createdAt: created("When it was made"),
    updatedAt: changed("Last change"),
    // Only folders have these members.
    hasChildren: ignored,
    childCount: ignored
  }
})
