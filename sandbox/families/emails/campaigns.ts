import { invalid } from "../../http/errors.ts"
import { extend } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import { between, choice, described, integer, record, required, text } from "../../http/shape.ts"
import { editorContentUrl } from "./content.ts"
import { filterBy, containsText, pageNewest } from "../../http/lists.ts"
import { checkFolder } from "./templates.ts"
import { campaignStatuses, emailKind } from "./seeded-emails.ts"
import { addRecord, checkReference, find } from "../records.ts"

const path = "/emails/locations/:locationId/campaigns/emails"

/** Email campaigns (B 4.1). Updating, scheduling and deleting one is not documented. */
export const emailCampaignRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: `${path}`,
    summary: "List campaigns",
    scope: "emails/campaigns.readonly",
    location: { in: "path", name: "locationId" },
    isNew: true,
    query: {
      limit: described(between(integer, 1, 20), "Default 10."),
      offset: described(between(integer, 0), "Default 0."),
      search: described(text, "Part of the name."),
      status: choice("all", ...campaignStatuses)
    },
    returns: { campaigns: { type: "array", items: record("EmailCampaignListItem") }, total: integer, traceId: text },
    handle: ({ query, traceId }, { world }) => {
      const { emailCampaigns } = world
      const { search, status = "all" } = query
      const filter = filterBy(query, "search status", (row) => {
        const data = emailCampaigns.data(row)
        return (status === "all" || data["status"] === status) && containsText(search, data["name"])
      })
      const { texts, total } = pageNewest(emailCampaigns, query, filter)
      return `{"campaigns":${texts},"total":${total},"traceId":${JSON.stringify(traceId)}}`
    }
  },
  {
    method: "POST",
    path: `${path}`,
    summary: "Create a campaign",
    scope: "emails/campaigns.write",
    location: { in: "path", name: "locationId" },
    isNew: true,
    status: 201,
    body: {
      name: required(text),
      editorType: required(choice("html", "text")),
      timeZone: required(described(text, "An IANA name.")),
      userId: required(text),
      templateId: text,
      editorContent: text,
      parentFolderId: text,
      userName: text
    },
    ignoresNull: true,
    returns: record("EmailCampaignListItem"),
    handle: ({ body, traceId }, service) => {
      const { emailCampaigns, emailTemplates } = service.world
      const { editorContent, editorType, name, parentFolderId, templateId, timeZone, userId } = body
      if (!isZone(String(timeZone))) throw invalid("timeZone must be a valid IANA time zone")
      checkReference(service.world.users, userId, "userId")
      checkFolder(service, parentFolderId)
      const template = checkReference(emailTemplates, templateId, "templateId")
      if (template?.kind === emailKind.folder) throw invalid("templateId is not valid")
      const content = editorContent ?? (template && emailTemplates.data(template)["content"]) ?? ""
      const fields = { name, status: "draft", deleted: false, editorType, isPlainText: editorType === "text", content }
      const row = emailCampaigns.data(addRecord(service, emailCampaigns, fields, { plain: true }))
      const { createdAt, deleted, id, status, updatedAt } = row
      return { id, name, status, deleted, createdAt, updatedAt, traceId }
    }
  },
  {
    method: "GET",
    path: `${path}/:campaignId`,
    summary: "Get a campaign",
    scope: "emails/campaigns.readonly",
    location: { in: "path", name: "locationId" },
    isNew: true,
    returns: record("EmailCampaign"),
    handle: ({ params }, service) => {
      const { emailCampaigns } = service.world
      const row = find(emailCampaigns, params["campaignId"], "Campaign")
      return extend(emailCampaigns.full(row), { editorContentUrl: editorContentUrl(service, "campaign", row.id!) })
    }
  }
]

const isZone = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).format(0) !== ""
  } catch {
    return false
  }
}
