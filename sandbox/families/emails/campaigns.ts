import { extend } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import { between, choice, described, integer, record, text } from "../../http/shape.ts"
import { editorContentUrl } from "./content.ts"
import { filterBy, containsText, pageNewest } from "../../http/lists.ts"
import { campaignStatuses } from "./seeded-emails.ts"
import { find } from "../records.ts"

const path = "/emails/locations/:locationId/campaigns/emails"

/** Email campaigns (B 4.1). */
export const emailCampaignRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path,
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
