import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { altType, choice, day, described, integer, list, number, object, record, text } from "../../http/shape.ts"
import type { Data, Filter } from "../../account/collection.ts"
import { nextInvoiceNumber } from "./document-numbers.ts"
import { filterBy, containsText, requiredPaging } from "../../http/lists.ts"
import { pageBy } from "./invoice-order.ts"
import { invoiceStatuses } from "./seeded-invoices.ts"
import { dayOf } from "../../account/seeded.ts"
import { find } from "../records.ts"

/** Invoices (B 4.3). A list returns nine fields. */
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
    handle: ({ params }, { world: { invoices } }) => invoices.full(find(invoices, params["invoiceId"], "Invoice"))
  },
  {
    method: "GET",
    path: "/invoices/generate-invoice-number",
    summary: "Get the next invoice number",
    scope: "invoices.readonly",
    location: { in: "query", name: "altId" },
    query: { altType },
    returns: { invoiceNumber: number },
    handle: (_, service) => ({ invoiceNumber: nextInvoiceNumber(service) })
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
