import { invalid } from "../errors.ts"
import { extend } from "../pages.ts"
import type { Route } from "../route.ts"
import { between, choice, described, integer, record, required, text } from "../shape.ts"
import { editorContentUrl } from "./email-content.ts"
import { filterBy, holds, operation, pageNewest } from "./operation.ts"
import { checkFolder } from "./email-templates.ts"
import { campaignStatuses, emailKind } from "./world/emails.ts"
import { addRecord, find, refer } from "./write.ts"

const path = "/emails/locations/:locationId/campaigns/emails"

/** Email campaigns (B 4.1): updating, scheduling and deleting one is in no document. */
export const emailCampaignRoutes: ReadonlyArray<Route> = [
  operation({
    does: `GET ${path}`,
    summary: "List campaigns",
    scope: "emails/campaigns.readonly",
    account: "path",
    isNew: true,
    query: {
      limit: described(between(integer, 1, 20), "Default 10."),
      offset: described(between(integer, 0), "Default 0."),
      search: described(text, "Part of the name."),
      status: choice("all", ...campaignStatuses)
    },
    returns: { campaigns: { type: "array", items: record("EmailCampaignListItem") }, total: integer, traceId: text },
    handle: ({ query, traceId }, { world }) => {
      const { emailCampaigns } = world.commerce
      const { search, status = "all" } = query
      const filter = filterBy(query, "search status", (row) => {
        const data = emailCampaigns.data(row)
        return (status === "all" || data["status"] === status) && holds(search, data["name"])
      })
      const { texts, total } = pageNewest(emailCampaigns, query, filter)
      return `{"campaigns":${texts},"total":${total},"traceId":${JSON.stringify(traceId)}}`
    }
  }),
  operation({
    does: `POST ${path}`,
    summary: "Create a campaign",
    scope: "emails/campaigns.write",
    account: "path",
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
    returns: record("EmailCampaignListItem"),
    handle: ({ body, traceId }, service) => {
      const { emailCampaigns, emailTemplates } = service.world.commerce
      const { editorContent, editorType, name, parentFolderId, templateId, timeZone, userId } = body
      if (!isZone(String(timeZone))) throw invalid("timeZone must be a valid IANA time zone")
      refer(service.world.users, userId, "userId")
      checkFolder(service, parentFolderId)
      const template = refer(emailTemplates, templateId, "templateId")
      if (template?.kind === emailKind.folder) throw invalid("templateId is not valid")
      const content = editorContent ?? (template && emailTemplates.data(template)["content"]) ?? ""
      const fields = { name, status: "draft", deleted: false, editorType, isPlainText: editorType === "text", content }
      const row = emailCampaigns.data(addRecord(service, emailCampaigns, fields, { plain: true }))
      const { createdAt, deleted, id, status, updatedAt } = row
      return { id, name, status, deleted, createdAt, updatedAt, traceId }
    }
  }),
  operation({
    does: `GET ${path}/:campaignId`,
    summary: "Get a campaign",
    scope: "emails/campaigns.readonly",
    account: "path",
    isNew: true,
    returns: record("EmailCampaign"),
    handle: ({ params }, service) => {
      const { emailCampaigns } = service.world.commerce
      const row = find(emailCampaigns, params["campaignId"], "Campaign")
      return extend(emailCampaigns.full(row), { editorContentUrl: editorContentUrl(service, "campaign", row.id!) })
    }
  })
]

const isZone = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).format(0) !== ""
  } catch {
    return false
  }
}
