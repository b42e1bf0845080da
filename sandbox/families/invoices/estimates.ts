import type { Data, Filter } from "../../account/collection.ts"
import { dayOf } from "../../account/seeded.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { altType, choice, day, described, integer, list, number, record, text } from "../../http/shape.ts"
import { nextEstimateNumber } from "./document-numbers.ts"
import { pageBy } from "./invoice-order.ts"
import { containsText, filterBy, requiredPaging } from "../../http/lists.ts"
import { estimateStatuses } from "./seeded-invoices.ts"

/** Estimates (B 4.3). No operation reads a single one. */
export const estimateRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/invoices/estimate/list",
    summary: "List estimates",
    scope: "invoices/estimate.readonly",
    location: { in: "query", name: "altId" },
    query: {
      altType,
      ...requiredPaging(),
      status: choice(...estimateStatuses),
      contactId: text,
      search: described(text, "Part of the name."),
      startAt: day,
      endAt: day
    },
    returns: { estimates: list(record("Estimate")), total: integer, traceId: text },
    handle: ({ query, traceId }, service) => {
      const { texts, total } = pageBy(service.world.estimates, query, estimateFilter(query, service))
      return `{"estimates":${texts},"total":${total},"traceId":${JSON.stringify(traceId)}}`
    }
  },
  {
    method: "GET",
    path: "/invoices/estimate/number/generate",
    summary: "Get the next estimate number",
    scope: "invoices/estimate.readonly",
    location: { in: "query", name: "altId" },
    query: { altType },
    returns: { estimateNumber: number, traceId: text },
    handle: ({ traceId }, service) => ({ estimateNumber: nextEstimateNumber(service), traceId })
  }
]

const estimateFilter = (query: Data, { world }: Service): Filter | undefined => {
  const { contactId, endAt = "9999", search, startAt = "", status = "all" } = query
  return filterBy(query, "status contactId search startAt endAt", (row) => {
    const data = world.estimates.data(row)
    const issued = String(data["issueDate"] ?? dayOf(row.created))
    return (
      issued >= String(startAt) &&
      issued <= String(endAt) &&
      (status === "all" || data["estimateStatus"] === status) &&
      (contactId === undefined || ((data["contactDetails"] ?? {}) as Data)["id"] === contactId) &&
      containsText(search, data["name"])
    )
  })
}
