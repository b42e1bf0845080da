import type { Route } from "../route.ts"
import { choice, described, integer, list, record, required, text } from "../shape.ts"
import type { Data } from "../world/collection.ts"
import { businessDetails, day, discount, kept, lineItems } from "./document-shapes.ts"
import { filterBy, given, holds, operation, pageNewest, requiredPaging } from "./operation.ts"
import { invoiceStatuses, totalOf } from "./world/invoices.ts"
import { addRecord, find } from "./write.ts"

/** Templates of estimates, and the list of those of invoices (B 4.3). */
export const documentTemplateRoutes: ReadonlyArray<Route> = [
  operation({
    does: "GET /invoices/estimate/template",
    summary: "List estimate templates",
    scope: "invoices/estimate.readonly",
    account: "altId in query",
    query: { ...requiredPaging(), search: described(text, "Id, or part of the name.") },
    returns: { data: list(record("EstimateTemplate")), totalCount: integer, traceId: text },
    handle: ({ query, traceId }, { world }) => {
      const { estimateTemplates: templates } = world.commerce
      const filter = filterBy(query, "search", (row) => holds(query["search"], row.id, templates.data(row)["name"]))
      const { texts, total } = pageNewest(templates, query, filter)
      return `{"data":${texts},"totalCount":${total},"traceId":${JSON.stringify(traceId)}}`
    }
  }),
  operation({
    does: "GET /invoices/estimate/template/preview",
    summary: "Preview an estimate template",
    scope: "invoices/estimate.readonly",
    account: "altId in query",
    query: { templateId: required(text) },
    returns: record("EstimateTemplate"),
    // The documents show no answer: the template itself.
    handle: ({ query }, { world }) => {
      const { estimateTemplates } = world.commerce
      return estimateTemplates.full(find(estimateTemplates, query["templateId"], "Template"))
    }
  }),
  operation({
    does: "POST /invoices/estimate/template",
    summary: "Create an estimate template",
    scope: "invoices/estimate.write",
    account: "altId in body",
    status: 201,
    body: {
      name: required(text),
      businessDetails: required(businessDetails),
      currency: required(text),
      items: lineItems,
      discount: required(discount),
      estimateNumberPrefix: text,
      ...kept
    },
    returns: record("EstimateTemplate"),
    handle: ({ body }, service) => {
      const { estimateTemplates } = service.world.commerce
      const total = totalOf(body["items"] as ReadonlyArray<Data>, body["discount"] as Data)
      const account = { altId: service.world.setting.locationId, altType: "location" }
      return estimateTemplates.full(addRecord(service, estimateTemplates, { ...account, ...given(body), total }))
    }
  }),
  operation({
    does: "DELETE /invoices/estimate/template/:templateId",
    summary: "Delete an estimate template",
    scope: "invoices/estimate.write",
    account: "altId in body",
    returns: record("EstimateTemplate"),
    handle: ({ params }, { world }) => {
      const { estimateTemplates } = world.commerce
      const row = find(estimateTemplates, params["templateId"], "Template")
      estimateTemplates.remove(row)
      return estimateTemplates.full(row)
    }
  }),
  // Its path is in no document; field-notes 7 has it from the vendor's description.
  operation({
    does: "GET /invoices/template",
    summary: "List invoice templates",
    scope: "invoices/template.readonly",
    account: "altId in query",
    query: {
      ...requiredPaging(),
      search: text,
      status: choice(...invoiceStatuses),
      paymentMode: choice("default", "live", "test"),
      startAt: day,
      endAt: day
    },
    returns: { data: list(record("InvoiceTemplate")), totalCount: integer },
    handle: ({ query }, { world }) => {
      const { invoiceTemplates: templates } = world.commerce
      const { endAt = "9999", paymentMode = "default", search, startAt = "" } = query
      const filter = filterBy(query, "search paymentMode startAt endAt", (row) => {
        const { createdAt, liveMode, name } = templates.data(row)
        const made = String(createdAt).slice(0, 10)
        return (
          holds(search, row.id, name) &&
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
