import { notFound } from "../../http/errors.ts"
import { extend } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import type { Entry } from "../../account/collection.ts"
import { between, choice, described, integer, list, object, text, timestamp } from "../../http/shape.ts"
import { containsText, filterBy } from "../../http/lists.ts"
import { find } from "../records.ts"
import { pageRows } from "./parts.ts"

const base = "/emails/locations/:locationId/campaigns"
const location = { in: "path", name: "locationId" } as const
const paged = {
  limit: described(between(integer, 1, 20), "Default 10."),
  offset: described(between(integer, 0), "Default 0."),
  search: text
}

const campaigns = (
  path: string,
  collection: "workflowCampaigns" | "bulkEmailCampaigns",
  statuses: ReadonlyArray<string>
): ReadonlyArray<Route> => [
  {
    method: "GET",
    path: `${base}/${path}`,
    scope: "emails/campaigns.readonly",
    location,
    isNew: true,
    summary: `List campaigns of ${path}`,
    query: { ...paged, status: choice(...statuses), dateFrom: timestamp, dateTo: timestamp },
    returns: { campaigns: list(object()), total: integer, traceId: text },
    handle: ({ query, traceId }, { world }) => {
      const rows = world[collection]
      const filter = filterBy(query, "status search", (row: Entry) => {
        const { name, status } = rows.data(row)
        return (query["status"] ?? status) === status && containsText(query["search"], name)
      })
      const { texts, total } = pageRows(rows, { limit: 10, ...query }, filter)
      return `{"campaigns":${texts},"total":${total},"traceId":"${traceId}"}`
    }
  },
  {
    method: "GET",
    path: `${base}/${path}/:campaignId`,
    scope: "emails/campaigns.readonly",
    location,
    isNew: true,
    summary: `Get a campaign of ${path}`,
    returns: object(),
    handle: ({ params, traceId }, { world }) => {
      const rows = world[collection]
      return extend(rows.full(find(rows, params["campaignId"], "Campaign")), { traceId })
    }
  }
]

/** Emails of workflows and bulk actions, and the statistics of all campaigns (C 7). */
export const furtherEmailRoutes: ReadonlyArray<Route> = [
  ...campaigns("workflows", "workflowCampaigns", ["published", "draft"]),
  ...campaigns("bulk-actions", "bulkEmailCampaigns", ["processing", "scheduled", "paused", "complete", "cancelled"]),
  {
    method: "GET",
    path: `${base}/stats/:source/:sourceId`,
    scope: "emails/stats.readonly",
    location,
    isNew: true,
    summary: "Get the statistics of a campaign",
    query: { subSourceId: text },
    returns: { locationId: text, source: text, sourceId: text, stats: object(), traceId: text },
    handle: ({ params, query, traceId }, { world }) => {
      const { source, sourceId } = params
      const { subSourceId } = query
      const found = [...world.emailStatistics.live()].find((row) => {
        const data = world.emailStatistics.data(row)
        return data["source"] === source && data["sourceId"] === sourceId
      })
      if (found === undefined) throw notFound(`No statistics for ${source} ${sourceId}`)
      const { id: _, ...record } = world.emailStatistics.data(found)
      return { ...record, ...(subSourceId !== undefined && { subSourceId }), traceId }
    }
  }
]
