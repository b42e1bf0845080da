import { asOffered } from "../further/offered.ts"
import type { Route } from "../../http/route.ts"
import { altType, choice, day, described, integer, list, record, required, text } from "../../http/shape.ts"
import { filterBy, containsText, pageNewest, requiredPaging } from "../../http/lists.ts"
import { invoiceStatuses } from "./seeded-invoices.ts"
import { find } from "../records.ts"

/** Templates of estimates and invoices (B 4.3). */
export const documentTemplateRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/invoices/estimate/template",
    summary: "List estimate templates",
    scope: "invoices/estimate.readonly",
    location: { in: "query", name: "altId" },
    query: { altType, ...requiredPaging(), search: described(text, "Id, or part of the name.") },
    returns: { data: list(record("EstimateTemplate")), totalCount: integer, traceId: text },
    handle: ({ query, traceId }, { world }) => {
      const { estimateTemplates: templates } = world
      const filter = filterBy(query, "search", (row) =>
        containsText(query["search"], row.id, templates.data(row)["name"])
      )
      const { texts, total } = pageNewest(templates, query, filter)
      return `{"data":${texts},"totalCount":${total},"traceId":${JSON.stringify(traceId)}}`
    }
  },
  {
    method: "GET",
    path: "/invoices/estimate/template/preview",
    summary: "Preview an estimate template",
    scope: "invoices/estimate.readonly",
    location: { in: "query", name: "altId" },
    query: { altType, templateId: required(text) },
    returns: record("EstimateTemplate"),
    // The response is not documented; it is the template itself.
    handle: ({ query }, { world }) => {
      const { estimateTemplates } = world
      return estimateTemplates.full(find(estimateTemplates, query["templateId"], "Template"))
    }
  },
  // Of document 3 (C 12.2).
  asOffered({
    method: "GET",
    path: "/invoices/template",
    summary: "List invoice templates",
    scope: "invoices/template.readonly",
    location: { in: "query", name: "altId" },
    query: {
      altType,
      ...requiredPaging(),
      search: text,
      status: choice(...invoiceStatuses),
      paymentMode: choice("default", "live", "test"),
      startAt: day,
      endAt: day
    },
    returns: { data: list(record("InvoiceTemplate")), totalCount: integer },
    handle: ({ query }, { settings, world }) => {
      if (settings.variants.furtherLists === "empty") return { data: [], totalCount: 0 }
      const { invoiceTemplates: templates } = world
      const { endAt = "9999", paymentMode = "default", search, startAt = "" } = query
      const filter = filterBy(query, "search paymentMode startAt endAt", (row) => {
        const { createdAt, liveMode, name } = templates.data(row)
        const made = String(createdAt).slice(0, 10)
        return (
          containsText(search, row.id, name) &&
          made >= String(startAt) &&
          made <= String(endAt) &&
          (paymentMode === "default" || liveMode === (paymentMode === "live"))
        )
      })
      const { texts, total } = pageNewest(templates, query, filter)
      return `{"data":${texts},"totalCount":${total}}`
    }
  })
]
