import { extend } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import { altType, choice, described, flag, integer, list, number, record, required, text } from "../../http/shape.ts"
import type { Data } from "../../account/collection.ts"
import { checkSending, day, sending } from "./document-shapes.ts"
import { checkEstimate, estimateFilter, estimateShape, findEstimate, nextEstimateNumber } from "./estimate-rules.ts"
import { createInvoice } from "./invoice-records.ts"
import { pageBy } from "./invoice-order.ts"
import { requiredPaging } from "../../http/lists.ts"
import { estimateStatuses } from "./seeded-invoices.ts"
import { dayOf } from "../../account/seeded.ts"
import { addRecord, changeRecord } from "../records.ts"

const [reads, writes] = ["invoices/estimate.readonly", "invoices/estimate.write"]

/** Estimates (B 4.3). No operation reads a single one. */
export const estimateRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/invoices/estimate/list",
    summary: "List estimates",
    scope: reads!,
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
    method: "POST",
    path: "/invoices/estimate",
    summary: "Create an estimate",
    scope: writes!,
    location: { in: "body", name: "altId" },
    status: 201,
    body: { altType, ...estimateShape },
    ignoresNull: true,
    returns: record("Estimate"),
    errors: [409],
    handle: ({ body, traceId }, service) => {
      const { estimates } = service.world
      const { estimateNumber = nextEstimateNumber(service), ...fields } = checkEstimate(body, service, undefined)
      const { locationId } = service.world.context
      const fixed = { altId: locationId, altType: "location", estimateStatus: "draft" }
      const row = addRecord(service, estimates, { ...fixed, ...fields, estimateNumber })
      return extend(estimates.full(row), { traceId })
    }
  },
  {
    method: "PUT",
    path: "/invoices/estimate/:estimateId",
    summary: "Change an estimate",
    scope: writes!,
    location: { in: "body", name: "altId" },
    body: { altType, ...estimateShape, estimateStatus: choice(...estimateStatuses.slice(1)) },
    ignoresNull: true,
    returns: record("Estimate"),
    errors: [409],
    handle: ({ body, params }, service) => {
      const { estimates } = service.world
      const old = findEstimate(service, params)
      return estimates.full(changeRecord(service, estimates, old, checkEstimate(body, service, old)))
    }
  },
  {
    method: "DELETE",
    path: "/invoices/estimate/:estimateId",
    summary: "Delete an estimate",
    scope: writes!,
    location: { in: "body", name: "altId" },
    body: { altType },
    ignoresNull: true,
    returns: record("Estimate"),
    handle: ({ params }, service) => {
      const { estimates } = service.world
      const row = findEstimate(service, params)
      estimates.remove(row)
      return estimates.full(row)
    }
  },
  {
    method: "POST",
    path: "/invoices/estimate/:estimateId/send",
    summary: "Send an estimate",
    scope: writes!,
    location: { in: "body", name: "altId" },
    status: 201,
    body: { altType, ...sending },
    ignoresNull: true,
    returns: record("Estimate"),
    handle: ({ body, params }, service) => {
      const { estimates } = service.world
      checkSending(service, body)
      const row = findEstimate(service, params)
      const isDraft = estimates.data(row)["estimateStatus"] === "draft"
      return estimates.full(changeRecord(service, estimates, row, isDraft ? { estimateStatus: "sent" } : {}))
    }
  },
  {
    method: "POST",
    path: "/invoices/estimate/:estimateId/invoice",
    summary: "Make an invoice of an estimate",
    scope: writes!,
    location: { in: "body", name: "altId" },
    body: { altType, markAsInvoiced: required(flag), version: choice("v1", "v2") },
    ignoresNull: true,
    returns: { estimate: record("Estimate"), invoice: record("Invoice") },
    handle: ({ body, params }, service) => {
      const { estimates, invoices } = service.world
      const old = findEstimate(service, params)
      const row =
        body["markAsInvoiced"] === true ? changeRecord(service, estimates, old, { estimateStatus: "invoiced" }) : old
      const data = estimates.data(row)
      const names = "name currency businessDetails discount items title termsNotes sentTo liveMode".split(" ")
      const fields = Object.fromEntries(names.map((name) => [name, data[name]]))
      const invoice = createInvoice(service, { ...fields, issueDate: dayOf(service.clock.now()) })
      // The contact may have been deleted, so it is copied and not looked up.
      const details = data["contactDetails"] as Data | undefined
      const named = changeRecord(service, invoices, invoice, { contactDetails: details, contactId: details?.["id"] })
      return `{"estimate":${estimates.full(row)},"invoice":${invoices.full(named)}}`
    }
  },
  {
    method: "GET",
    path: "/invoices/estimate/number/generate",
    summary: "Get the next estimate number",
    scope: reads!,
    location: { in: "query", name: "altId" },
    query: { altType },
    returns: { estimateNumber: number, traceId: text },
    handle: ({ traceId }, service) => ({ estimateNumber: nextEstimateNumber(service), traceId })
  }
]
