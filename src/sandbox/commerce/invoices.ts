import type { Route, Service } from "../route.ts"
import { anything, choice, described, flag, integer, list, number, object, record, required, text } from "../shape.ts"
import type { Data, Filter } from "../world/collection.ts"
import {
  businessDetails,
  checkContact,
  contactDetails,
  day,
  discount,
  findInvoice,
  kept,
  lateFeesConfiguration,
  lineItems,
  sentTo
} from "./document-shapes.ts"
import { createInvoice, nextNumber, openInvoice, updateInvoice } from "./invoice-records.ts"
import { filterBy, holds, operation, requiredPaging } from "./operation.ts"
import { pageBy } from "./invoice-order.ts"
import { invoiceStatuses } from "./world/invoices.ts"
import { dayOf } from "./world/seeded.ts"
import { changeRecord, refer } from "./write.ts"

const payment = { tipsConfiguration: anything, paymentSchedule: anything, paymentMethods: anything }

/** Invoices (B 4.3). A list shows nine fields; a create answers with 200 (A 7). */
export const invoiceRoutes: ReadonlyArray<Route> = [
  operation({
    does: "GET /invoices/",
    summary: "List invoices",
    scope: "invoices.readonly",
    account: "altId in query",
    query: {
      ...requiredPaging(),
      status: choice(...invoiceStatuses),
      contactId: text,
      search: described(text, "Id, name, email or phone."),
      paymentMode: choice("default", "live", "test"),
      startAt: day,
      endAt: day,
      sortField: choice("issueDate"),
      sortOrder: choice("ascend", "descend")
    },
    returns: { invoices: list(record("InvoiceListItem")), total: integer },
    handle: ({ query }, service) => {
      const { texts, total } = pageBy(service.world.commerce.invoices, query, filter(query, service))
      return `{"invoices":${texts},"total":${total}}`
    }
  }),
  operation({
    does: "GET /invoices/:invoiceId",
    summary: "Get an invoice",
    scope: "invoices.readonly",
    account: "altId in query",
    returns: record("Invoice"),
    handle: ({ params }, service) => service.world.commerce.invoices.full(findInvoice(service, params))
  }),
  operation({
    does: "POST /invoices/",
    summary: "Create an invoice",
    scope: "invoices.write",
    account: "altId in body",
    body: {
      name: required(text),
      businessDetails: required(businessDetails),
      currency: required(text),
      items: lineItems,
      discount: required(discount),
      contactDetails: required(contactDetails),
      issueDate: required(day),
      sentTo: required(sentTo),
      liveMode: required(flag),
      dueDate: day,
      invoiceNumber: anything,
      invoiceNumberPrefix: text,
      lateFeesConfiguration,
      ...kept,
      ...payment
    },
    returns: record("Invoice"),
    errors: [409],
    handle: ({ body }, service) => service.world.commerce.invoices.full(createInvoice(service, body))
  }),
  operation({
    does: "PUT /invoices/:invoiceId",
    summary: "Change an invoice",
    scope: "invoices.write",
    account: "altId in body",
    body: {
      name: required(text),
      currency: required(text),
      invoiceItems: lineItems,
      issueDate: required(day),
      dueDate: required(day),
      description: text,
      businessDetails,
      invoiceNumber: anything,
      invoiceNumberPrefix: text,
      contactId: text,
      contactDetails,
      discount,
      liveMode: flag,
      ...kept,
      ...payment
    },
    returns: record("Invoice"),
    errors: [409],
    handle: ({ body, params }, service) => {
      const { invoices } = service.world.commerce
      const old = openInvoice(service, findInvoice(service, params), "changed")
      checkContact(service, body["contactDetails"])
      refer(service.world.contacts, body["contactId"], "contactId")
      return invoices.full(updateInvoice(service, old, body))
    }
  }),
  operation({
    does: "DELETE /invoices/:invoiceId",
    summary: "Delete an invoice",
    scope: "invoices.write",
    account: "altId in query",
    returns: record("Invoice"),
    handle: ({ params }, service) => {
      const { invoices } = service.world.commerce
      const row = findInvoice(service, params)
      invoices.remove(row)
      return invoices.full(row)
    }
  }),
  operation({
    does: "PATCH /invoices/:invoiceId/late-fees-configuration",
    summary: "Set the late fees of an invoice",
    scope: "invoices.write",
    account: "altId in body",
    body: { lateFeesConfiguration: required(lateFeesConfiguration) },
    returns: record("Invoice"),
    errors: [409],
    handle: ({ body, params }, service) => {
      const { invoices } = service.world.commerce
      const row = openInvoice(service, findInvoice(service, params), "changed")
      return invoices.full(changeRecord(service, invoices, row, body))
    }
  }),
  operation({
    does: "GET /invoices/generate-invoice-number",
    summary: "Get the next invoice number",
    scope: "invoices.readonly",
    account: "altId in query",
    returns: { invoiceNumber: number },
    handle: (_, service) => ({ invoiceNumber: nextNumber(service) })
  }),
  operation({
    does: "GET /invoices/settings",
    summary: "Get the defaults of invoices and estimates",
    scope: "invoices.readonly",
    account: "altId in query",
    returns: object(),
    handle: (_, { world }) => {
      const { invoiceSettings } = world.commerce
      return invoiceSettings.full(invoiceSettings.get(world.setting.locationId)!)
    }
  })
]

const filter = (query: Data, { world }: Service): Filter | undefined => {
  const { contactId, endAt = "9999", paymentMode = "default", search, startAt = "", status } = query
  const { invoices } = world.commerce
  return filterBy(query, "status contactId search paymentMode startAt endAt", (row) => {
    const data = invoices.data(row)
    const { email, id, name, phoneNo } = (data["contactDetails"] ?? {}) as Data
    const issued = String(data["issueDate"] ?? dayOf(row.created))
    return (
      issued >= String(startAt) &&
      issued <= String(endAt) &&
      (status === undefined || data["status"] === status) &&
      (contactId === undefined || id === contactId) &&
      (paymentMode === "default" || data["liveMode"] === (paymentMode === "live")) &&
      holds(search, row.id, data["name"], name, email, phoneNo)
    )
  })
}
