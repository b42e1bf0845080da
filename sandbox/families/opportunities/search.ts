import { invalid } from "../../http/errors.ts"
import { extend, pageNumbers, pageOf } from "../../http/pages.ts"
import { americanDay, dayMs, searchText, wholeNumber } from "../../http/parameters.ts"
import type { Answer, Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { between, choice, described, flag, integer, list, object, record, text } from "../../http/shape.ts"
import { type Data, type Entry, type Filter, type Order, byCreated, byUpdated } from "../../account/collection.ts"
import { slice, startAfter } from "../../account/position.ts"

/** GET /opportunities/search (A 4.4). */
export const opportunitySearchRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/opportunities/search",
    scope: "opportunities.readonly",
    location: { in: "query", name: "locationId" },
    summary: "Search opportunities",
    query: {
      q: { type: "string", maxLength: 75 },
      pipelineId: text,
      pipelineStageId: text,
      status: choice("open", "won", "lost", "abandoned", "all"),
      contactId: text,
      assignedTo: text,
      campaignId: text,
      id: text,
      country: text,
      date: described(text, "mm-dd-yyyy"),
      endDate: described(text, "mm-dd-yyyy"),
      order: choice("added_asc", "added_desc", "name_asc", "name_desc", "updated_asc", "updated_desc"),
      limit: between(integer, 1, 100),
      page: between(integer, 1),
      startAfter: between(integer, 0),
      startAfterId: text,
      getTasks: flag,
      getNotes: flag,
      getCalendarEvents: flag
    },
    returns: { opportunities: list(record("Opportunity")), meta: object() },
    handle: (call, service) => search(call, service)
  }
]

const search = (call: Call, service: Service): Answer => {
  const { query } = call
  const { opportunities } = service.world
  const limit = Number(query["limit"] ?? 20)
  const page = wholeNumber(query, "page", { fallback: 1 })
  const { descending, order } = readOrder(query, service)
  const rows = inCountry(opportunities.sorted(order, filter(call, service)), query["country"], service)
  const key = wholeNumber(query, "startAfter", { fallback: 0, minimum: 0 })
  const id = String(query["startAfterId"] ?? "")
  // Both are needed: with only one, the service always returns the first page (field-notes 3).
  const start =
    key > 0 && id !== ""
      ? startAfter(rows, order, [order === byName(service) ? nameAt(id, service) : key, id], descending)
      : key > 0 || id !== ""
        ? 0
        : (page - 1) * limit
  const shown = slice(rows, start, limit, descending)
  const texts = shown.map((row) => withDetails(service, row, detailsIn(query)))
  // The last page has a cursor too, and an empty page repeats the cursor of its request (field-notes 1).
  const last = shown.at(-1)
  const cursor = {
    startAfter: last === undefined ? key || null : order === byUpdated ? last.updated : last.created,
    startAfterId: last === undefined ? id || null : last.id
  }
  if (last !== undefined && order === byName(service)) namesShown(service).set(last.id, String(order.key(last)))
  const more = start + shown.length < rows.length
  const numbers = { ...pageNumbers(page, limit, rows.length), nextPage: more ? page + 1 : null }
  const nextPageUrl = more
    ? `http://opportunities.internal/opportunities/search?locationId=${service.world.context.locationId}` +
      `&limit=${limit}&startAfter=${cursor.startAfter}&startAfterId=${cursor.startAfterId}`
    : null
  return pageOf("opportunities", texts, { meta: { ...numbers, ...cursor, nextPageUrl } })
}

export interface Details {
  notes: boolean
  tasks: boolean
  calendarEvents: boolean
}

/** The item of a search; with notes, tasks and events only if they are requested. */
export const withDetails = ({ world }: Service, row: Entry, details: Details): string => {
  const text = world.opportunities.list(row)
  const names = (["notes", "tasks", "calendarEvents"] as const).filter((name) => details[name])
  if (names.length === 0) return text
  const data = world.opportunities.data(row)
  return extend(text, Object.fromEntries(names.map((name) => [name, data[name] ?? []])))
}

const detailsIn = (query: Data): Details => ({
  notes: query["getNotes"] === true,
  tasks: query["getTasks"] === true,
  calendarEvents: query["getCalendarEvents"] === true
})

/** By default, the newest opportunities come first (field-notes 3). */
const readOrder = (query: Data, service: Service): { order: Order; descending: boolean } => {
  const name = String(query["order"] ?? "added_desc")
  const order = name.startsWith("name") ? byName(service) : name.startsWith("updated") ? byUpdated : byCreated
  return { order, descending: name.endsWith("desc") }
}

/** A cursor contains a timestamp but no name (A 4.4), so the name of the last opportunity of a page is stored by its id. */
const nameAt = (id: string, service: Service): string => {
  const name = namesShown(service).get(id)
  if (name === undefined) throw invalid("startAfterId is not the last opportunity of a page in this order")
  return name
}

const namesShownOf = new WeakMap<Service, Map<string | null, string>>()

const namesShown = (service: Service): Map<string | null, string> => {
  const known = namesShownOf.get(service) ?? new Map<string | null, string>()
  namesShownOf.set(service, known)
  return known
}

const byNameOf = new WeakMap<Service, Order>()

const byName = (service: Service): Order => {
  const { opportunities } = service.world
  const known = byNameOf.get(service)
  const order = known ?? { name: "name", key: (row) => String(opportunities.data(row)["name"]).toLowerCase() }
  byNameOf.set(service, order)
  return order
}

/** The documented filters. Others, such as `date_updated`, are silently ignored (field-notes 3). */
const filter = ({ query }: Call, service: Service): Filter | undefined => {
  const { opportunities } = service.world
  const { status } = query as { status?: string }
  const text = searchText(query["q"], "q")
  const from = americanDay(query["date"], "date") ?? -Infinity
  const to = (americanDay(query["endDate"], "endDate") ?? Infinity) + dayMs
  const equal = Object.entries(fields).flatMap(([name, read]) => {
    const wanted = query[name] ?? ""
    return wanted === "" ? [] : [{ name, read, wanted }]
  })
  if (status !== undefined && status !== "all") {
    equal.push({ name: "status", read: (data) => data["status"], wanted: status })
  }
  const looksInside = equal.length > 0 || text !== undefined
  if (!looksInside && from === -Infinity && to === Infinity) return undefined
  const key = JSON.stringify([equal.map(({ name, wanted }) => [name, wanted]), text, String(from), String(to)])
  const test = (row: Entry): boolean => {
    if (row.created < from || row.created >= to) return false
    if (!looksInside) return true
    const data = opportunities.data(row)
    return equal.every(({ read, wanted }) => read(data) === wanted) && (text === undefined || contains(data, text))
  }
  return { key, test }
}

/** The country is that of the current contact, which may change without the opportunity, so these lists are not cached. */
const inCountry = (rows: ReadonlyArray<Entry>, country: unknown, { world }: Service): ReadonlyArray<Entry> => {
  if (country === undefined) return rows
  return rows.filter((row) => {
    const contact = world.contacts.get(row.parent ?? "")
    return contact !== undefined && world.contacts.data(contact)["country"] === country
  })
}

export const contains = (data: Data, text: string): boolean => {
  const { email, name, phone } = data["contact"] as Data
  return [data["name"], name, email, phone].some((own) =>
    String(own ?? "")
      .toLowerCase()
      .includes(text)
  )
}

const fields: Record<string, (data: Data) => unknown> = {
  id: (data) => data["id"],
  pipelineId: (data) => data["pipelineId"],
  pipelineStageId: (data) => data["pipelineStageId"],
  contactId: (data) => data["contactId"],
  assignedTo: (data) => data["assignedTo"],
  campaignId: (data) => data["campaignId"]
}
