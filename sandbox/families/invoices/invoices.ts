import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import {
  altType,
  anything,
  choice,
  described,
  flag,
  integer,
  list,
  number,
  object,
  record,
  required,
  text
} from "../../http/shape.ts"
import type { Data, Filter } from "../../account/collection.ts"
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
import { filterBy, containsText, requiredPaging } from "../../http/lists.ts"
import { pageBy } from "./invoice-order.ts"
import { invoiceStatuses } from "./seeded-invoices.ts"
import { dayOf } from "../../account/seeded.ts"
import { changeRecord, checkReference } from "../records.ts"

const payment = { tipsConfiguration: anything, paymentSchedule: anything, paymentMethods: anything }

/** Invoices (B 4.3). A list returns nine fields; the status of a create is 200 (A 7). */
export const invoiceRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/invoices/",
    summary: "List invoices",
    scope: "invoices.readonly",
    location: { in: "query", name: "altId" },
    query: {
      altType,
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
      const { texts, total } = pageBy(service.world.invoices, query, filter(query, service))
      return `{"invoices":${texts},"total":${total}}`
    }
  },
  {
    method: "GET",
    path: "/invoices/:invoiceId",
    summary: "Get an invoice",
    scope: "invoices.readonly",
    location: { in: "query", name: "altId" },
    query: { altType },
    returns: record("Invoice"),
    handle: ({ params }, service) => service.world.invoices.full(findInvoice(service, params))
  },
  {
    method: "POST",
    path: "/invoices/",
    summary: "Create an invoice",
    scope: "invoices.write",
    location: { in: "body", name: "altId" },
    body: {
      altType,
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
    ignoresNull: true,
    returns: record("Invoice"),
    errors: [409],
    handle: ({ body }, service) => service.world.invoices.full(createInvoice(service, body))
  },
  {
    method: "PUT",
    path: "/invoices/:invoiceId",
    summary: "Change an invoice",
    scope: "invoices.write",
    location: { in: "body", name: "altId" },
    body: {
      altType,
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
    ignoresNull: true,
    returns: record("Invoice"),
    errors: [409],
    handle: ({ body, params }, service) => {
      const { invoices } = service.world
      const old = openInvoice(service, findInvoice(service, params), "changed")
      checkContact(service, body["contactDetails"])
      checkReference(service.world.contacts, body["contactId"], "contactId")
      return invoices.full(updateInvoice(service, old, body))
    }
  },
  {
    method: "DELETE",
    path: "/invoices/:invoiceId",
    summary: "Delete an invoice",
    scope: "invoices.write",
    location: { in: "query", name: "altId" },
    query: { altType },
    returns: record("Invoice"),
    handle: ({ params }, service) => {
      const { invoices } = service.world
      const row = findInvoice(service, params)
      invoices.remove(row)
      return invoices.full(row)
    }
  },
  {
    method: "PATCH",
    path: "/invoices/:invoiceId/late-fees-configuration",
    summary: "Set the late fees of an invoice",
    scope: "invoices.write",
    location: { in: "body", name: "altId" },
    body: { altType, lateFeesConfiguration: required(lateFeesConfiguration) },
    ignoresNull: true,
    returns: record("Invoice"),
    errors: [409],
    handle: ({ body, params }, service) => {
      const { invoices } = service.world
      const row = openInvoice(service, findInvoice(service, params), "changed")
      return invoices.full(changeRecord(service, invoices, row, body))
    }
  },
  {
    method: "GET",
    path: "/invoices/generate-invoice-number",
    summary: "Get the next invoice number",
    scope: "invoices.readonly",
    location: { in: "query", name: "altId" },
    query: { altType },
    returns: { invoiceNumber: number },
    handle: (_, service) => ({ invoiceNumber: nextNumber(service) })
  },
  {
    method: "GET",
    path: "/invoices/settings",
    summary: "Get the defaults of invoices and estimates",
    scope: "invoices.readonly",
    location: { in: "query", name: "altId" },
    query: { altType },
    returns: object(),
    handle: (_, { world }) => {
      const { invoiceSettings } = world
      return invoiceSettings.full(invoiceSettings.get(world.context.locationId)!)
    }
  }
]

const filter = (query: Data, { world }: Service): Filter | undefined => {
  const { contactId, endAt = "9999", paymentMode = "default", search, startAt = "", status } = query
  const { invoices } = world
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
      containsText(search, row.id, data["name"], name, email, phoneNo)
    )
  })
}
