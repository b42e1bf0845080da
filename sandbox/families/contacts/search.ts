import { contactFilter } from "./filters.ts"
import { invalid, invalidFilter, malformed } from "../../http/errors.ts"
import { extend, listed, pageOf } from "../../http/pages.ts"
import { searchText, wholeNumber } from "../../http/parameters.ts"
import type { Answer, Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { anything, between, integer, list, record, required } from "../../http/shape.ts"
import { type Collection, type Data, type Entry, type Order, byCreated, byUpdated } from "../../account/collection.ts"
import { type Cursor, slice, startAfter } from "../../account/position.ts"

/** POST /contacts/search (A 4.2), with the undocumented paging, filters and sort (field-notes 2). */
export const contactSearchRoutes: ReadonlyArray<Route> = [
  {
    method: "POST",
    path: "/contacts/search",
    scope: "contacts.readonly",
    location: { in: "body", name: "locationId" },
    summary: "Search contacts",
    body: {
      pageLimit: required(between(integer, 1, 500)),
      page: between(integer, 1),
      searchAfter: anything,
      filters: anything,
      sort: anything,
      query: anything
    },
    returns: { contacts: list(record("Contact")), total: integer },
    handle: (call, service) => search(call, service)
  }
]

const search = ({ body }: Call, service: Service): Answer => {
  const { contacts } = service.world
  const { contactPaging, contactSort } = service.settings.variants
  const size = wholeNumber(body, "pageLimit", { fallback: 20, maximum: 500 })
  const page = wholeNumber(body, "page", { fallback: 1 })
  const { descending, order } = { ...readSort(body["sort"], contacts), ...ordersOfItsOwn(contacts)[contactSort] }
  const rows = contacts.sorted(order, contactFilter(body["filters"], searchText(body["query"], "query"), service))
  const after = readCursor(body, contactPaging)
  if (after === undefined && page * size > rowsByPage) {
    throw invalid(`page times pageLimit must not be greater than ${rowsByPage}, use searchAfter`)
  }
  const start =
    after !== undefined ? startAfter(rows, order, after, descending) : contactPaging === "none" ? 0 : (page - 1) * size
  const shown = slice(rows, start, size, descending)
  const texts = listed(contacts, shown)
  const withCursors =
    contactPaging === "searchAfter"
      ? texts.map((text, index) => extend(text, { searchAfter: [order.key(shown[index]!), shown[index]!.id] }))
      : texts
  return pageOf("contacts", withCursors, { total: rows.length })
}

/** `searchAfter` is the array of the last contact of a page; `page` must not be sent with it (field-notes 2). */
const readCursor = (body: Data, paging: "searchAfter" | "page" | "none"): Cursor | undefined => {
  const sent = body["searchAfter"]
  if (sent === undefined || sent === null || (Array.isArray(sent) && sent.length === 0) || paging === "none") {
    return undefined
  }
  if (paging === "page") throw invalid("property searchAfter should not exist")
  if (body["page"] !== undefined) throw invalid("page and searchAfter cannot be sent together")
  if (!Array.isArray(sent)) throw malformed("searchAfter must be an array")
  const [key, id] = sent as ReadonlyArray<unknown>
  if (
    sent.length !== 2 ||
    (typeof key !== "number" && typeof key !== "string") ||
    (typeof id !== "string" && id !== null)
  ) {
    throw invalid("searchAfter must be the array carried by the last contact of a page")
  }
  return [key, id ?? ""]
}

const readSort = (sort: unknown, contacts: Collection): { order: Order; descending: boolean } => {
  if (sort === undefined || sort === null || (Array.isArray(sort) && sort.length === 0)) {
    return { order: byCreated, descending: true }
  }
  if (!Array.isArray(sort)) throw malformed("sort must be an array")
  const { direction, field } = (sort as ReadonlyArray<Partial<Data> | null>)[0] ?? {}
  if (sort.length > 1) throw invalid("sort must contain no more than 1 element")
  if (direction !== "asc" && direction !== "desc") throw invalid("sort.0.direction must be one of: asc, desc")
  const descending = direction === "desc"
  if (field === "dateAdded") return { order: byCreated, descending }
  if (field === "dateUpdated") return { order: byUpdated, descending }
  if (typeof field !== "string" || !textFields.includes(field)) {
    throw invalidFilter(String(field), `Invalid field (${String(field)}) passed for sort`)
  }
  return { order: byText(field, contacts), descending }
}

const byText = (field: string, contacts: Collection): Order => ({
  name: field,
  key: (entry: Entry) => String(contacts.data(entry)[field.replace("LowerCase", "")] ?? "").toLowerCase()
})

const ordersOfItsOwn = (contacts: Collection) => ({
  honoured: {},
  created: { order: byCreated },
  email: { order: byText("email", contacts) }
})

const textFields = ["firstNameLowerCase", "lastNameLowerCase", "name", "email", "companyName", "city", "source"]

/** Page numbers reach the first 10,000 rows; further rows need `searchAfter` (field-notes 2). */
const rowsByPage = 10_000
