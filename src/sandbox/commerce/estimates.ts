import { extend } from "../pages.ts"
import type { Route } from "../route.ts"
import { choice, described, flag, integer, list, number, record, required, text } from "../shape.ts"
import type { Data } from "../world/collection.ts"
import { checkSending, day, sending } from "./document-shapes.ts"
import { checkEstimate, estimateFilter, estimateShape, findEstimate, nextEstimateNumber } from "./estimate-rules.ts"
import { createInvoice } from "./invoice-records.ts"
import { pageBy } from "./invoice-order.ts"
import { operation, requiredPaging } from "./operation.ts"
import { estimateStatuses } from "./world/invoices.ts"
import { dayOf } from "./world/seeded.ts"
import { addRecord, changeRecord } from "./write.ts"

const [reads, writes] = ["invoices/estimate.readonly", "invoices/estimate.write"]

/** Estimates (B 4.3). No operation reads one alone. */
export const estimateRoutes: ReadonlyArray<Route> = [
  operation({
    does: "GET /invoices/estimate/list",
    summary: "List estimates",
    scope: reads!,
    account: "altId in query",
    query: {
      ...requiredPaging(),
      status: choice(...estimateStatuses),
      contactId: text,
      search: described(text, "Part of the name."),
      startAt: day,
      endAt: day
    },
    returns: { estimates: list(record("Estimate")), total: integer, traceId: text },
    handle: ({ query, traceId }, service) => {
      const { texts, total } = pageBy(service.world.commerce.estimates, query, estimateFilter(query, service))
      return `{"estimates":${texts},"total":${total},"traceId":${JSON.stringify(traceId)}}`
    }
  }),
  operation({
    does: "POST /invoices/estimate",
    summary: "Create an estimate",
    scope: writes!,
    account: "altId in body",
    status: 201,
    body: estimateShape,
    returns: record("Estimate"),
    errors: [409],
    handle: ({ body, traceId }, service) => {
      const { estimates } = service.world.commerce
      const { estimateNumber = nextEstimateNumber(service), ...fields } = checkEstimate(body, service, undefined)
      const { locationId } = service.world.setting
      const fixed = { altId: locationId, altType: "location", estimateStatus: "draft" }
      const row = addRecord(service, estimates, { ...fixed, ...fields, estimateNumber })
      return extend(estimates.full(row), { traceId })
    }
  }),
  operation({
    does: "PUT /invoices/estimate/:estimateId",
    summary: "Change an estimate",
    scope: writes!,
    account: "altId in body",
    body: { ...estimateShape, estimateStatus: choice(...estimateStatuses.slice(1)) },
    returns: record("Estimate"),
    errors: [409],
    handle: ({ body, params }, service) => {
      const { estimates } = service.world.commerce
      const old = findEstimate(service, params)
      return estimates.full(changeRecord(service, estimates, old, checkEstimate(body, service, old)))
    }
  }),
  operation({
    does: "DELETE /invoices/estimate/:estimateId",
    summary: "Delete an estimate",
    scope: writes!,
    account: "altId in body",
    returns: record("Estimate"),
    handle: ({ params }, service) => {
      const { estimates } = service.world.commerce
      const row = findEstimate(service, params)
      estimates.remove(row)
      return estimates.full(row)
    }
  }),
  operation({
    does: "POST /invoices/estimate/:estimateId/send",
    summary: "Send an estimate",
    scope: writes!,
    account: "altId in body",
    status: 201,
    body: sending,
    returns: record("Estimate"),
    handle: ({ body, params }, service) => {
      const { estimates } = service.world.commerce
      checkSending(service, body)
      const row = findEstimate(service, params)
      const isDraft = estimates.data(row)["estimateStatus"] === "draft"
      return estimates.full(changeRecord(service, estimates, row, isDraft ? { estimateStatus: "sent" } : {}))
    }
  }),
  operation({
    does: "POST /invoices/estimate/:estimateId/invoice",
    summary: "Make an invoice of an estimate",
    scope: writes!,
    account: "altId in body",
    body: { markAsInvoiced: required(flag), version: choice("v1", "v2") },
    returns: { estimate: record("Estimate"), invoice: record("Invoice") },
    handle: ({ body, params }, service) => {
      const { estimates, invoices } = service.world.commerce
      const old = findEstimate(service, params)
      const row =
        body["markAsInvoiced"] === true ? changeRecord(service, estimates, old, { estimateStatus: "invoiced" }) : old
      const data = estimates.data(row)
      const names = "name currency businessDetails discount items title termsNotes sentTo liveMode".split(" ")
      const fields = Object.fromEntries(names.map((name) => [name, data[name]]))
      const invoice = createInvoice(service, { ...fields, issueDate: dayOf(service.clock.now()) })
      // The contact may be gone by now, so it is copied and not looked up.
      const details = data["contactDetails"] as Data | undefined
      const named = changeRecord(service, invoices, invoice, { contactDetails: details, contactId: details?.["id"] })
      return `{"estimate":${estimates.full(row)},"invoice":${invoices.full(named)}}`
    }
  }),
  operation({
    does: "GET /invoices/estimate/number/generate",
    summary: "Get the next estimate number",
    scope: reads!,
    account: "altId in query",
    returns: { estimateNumber: number, traceId: text },
    handle: ({ traceId }, service) => ({ estimateNumber: nextEstimateNumber(service), traceId })
  })
]
