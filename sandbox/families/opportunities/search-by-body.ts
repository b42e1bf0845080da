import { invalid, malformed } from "../../http/errors.ts"
import { extend, pageOf } from "../../http/pages.ts"
import { instant, searchText, wholeNumber } from "../../http/parameters.ts"
import type { Answer, Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { anything, described, flag, integer, list, object, record, required } from "../../http/shape.ts"
import { type Data, type Entry, type Filter, type Order, byCreated, byUpdated } from "../../account/collection.ts"
import { slice, startAfter } from "../../account/position.ts"
import { type Details, contains, withDetails } from "./search.ts"

/** POST /opportunities/search: the documented body (A 4.4), and filters and sort as the variant says (field-notes 3). */
export const opportunityPostSearchRoutes: ReadonlyArray<Route> = [
  {
    method: "POST",
    path: "/opportunities/search",
    scope: "opportunities.readonly",
    location: { in: "body", name: "locationId" },
    summary: "Search opportunities, with totals per stage",
    body: {
      query: required(described(anything, "At most 75 characters.")),
      limit: required(integer),
      page: required(described(integer, "Starts at 0.")),
      searchAfter: required(described(anything, "[timestamp, opportunityId], or an empty array.")),
      additionalDetails: required(
        object({
          notes: required(flag),
          tasks: required(flag),
          calendarEvents: required(flag),
          unReadConversations: required(flag)
        })
      ),
      filters: anything,
      sort: anything
    },
    returns: { opportunities: list(record("Opportunity")), total: integer, stageAggregations: list(object()) },
    handle: (call, service) => search(call, service)
  }
]

const search = ({ body }: Call, service: Service): Answer => {
  const { opportunities } = service.world
  const { opportunityFilters, opportunityPostLimitMax } = service.settings.variants
  const limit = wholeNumber(body, "limit", { fallback: 20, maximum: opportunityPostLimitMax })
  const page = wholeNumber(body, "page", { fallback: 0, minimum: 0 })
  const details = body["additionalDetails"] as Details & { unReadConversations: boolean }
  const extras = ["filters", "sort"].filter((name) => body[name] !== undefined)
  if (opportunityFilters === "refused" && extras.length > 0) {
    throw invalid(...extras.map((name) => `property ${name} should not exist`))
  }
  const honoured = opportunityFilters === "honoured"
  const { descending, order } = honoured ? readSort(body["sort"]) : newestFirst
  const rows = opportunities.sorted(order, filter(body, honoured, service))
  const after = readCursor(body["searchAfter"])
  if (after === undefined && (page + 1) * limit > rowsByPage) {
    throw invalid(`page times limit must not be greater than ${rowsByPage}, use searchAfter`)
  }
  const start = after === undefined ? page * limit : startAfter(rows, order, after, descending)
  const shown = slice(rows, start, limit, descending)
  const texts = shown.map((row) =>
    extend(withDetails(service, row, details), {
      ...(details.unReadConversations && { unReadConversations: unread(row, service) }),
      searchAfter: [order.key(row), row.id]
    })
  )
  const rest = { total: rows.length, stageAggregations: perStage(rows, service) }
  return pageOf("opportunities", texts, rest)
}

/** The number of unread conversations with the contact of an opportunity. */
const unread = (row: Entry, { world: { conversations } }: Service): number =>
  conversations.children(row.parent ?? "").filter((one) => Number(conversations.data(one)["unreadCount"]) > 0).length

const newestFirst = { order: byCreated, descending: true }

const readCursor = (sent: unknown): readonly [number, string] | undefined => {
  if (!Array.isArray(sent)) throw malformed("searchAfter must be an array")
  if (sent.length === 0) return undefined
  const [key, id] = sent as ReadonlyArray<unknown>
  if (sent.length !== 2 || typeof key !== "number" || (typeof id !== "string" && id !== null)) {
    throw invalid("searchAfter must be [timestamp, opportunityId]")
  }
  return [key, id ?? ""]
}

const readSort = (sort: unknown): { order: Order; descending: boolean } => {
  if (sort === undefined || (Array.isArray(sort) && sort.length === 0)) return newestFirst
  if (!Array.isArray(sort)) throw malformed("sort must be an array")
  const { direction, field } = (sort as ReadonlyArray<Partial<Data> | null>)[0] ?? {}
  const order = sortable[String(field)]
  if (sort.length > 1 || order === undefined) throw invalid(`Invalid field (${String(field)}) passed for sort`)
  if (direction !== "asc" && direction !== "desc") throw invalid("sort.0.direction must be one of: asc, desc")
  return { order, descending: direction === "desc" }
}

const sortable: Record<string, Order | undefined> = { date_added: byCreated, date_updated: byUpdated }

const filter = (body: Data, honoured: boolean, { world }: Service): Filter | undefined => {
  const text = searchText(body["query"], "query")
  const filters = honoured ? (body["filters"] ?? []) : []
  if (!Array.isArray(filters)) throw malformed("filters must be an array")
  const tests = filters.map((sent: Data | null) => toTest(sent ?? {}))
  if (tests.length === 0 && text === undefined) return undefined
  const test = (row: Entry): boolean =>
    tests.every((test) => test(row)) && (text === undefined || contains(world.opportunities.data(row), text))
  return { key: JSON.stringify([filters, text]), test }
}

const toTest = ({ field, operator, value }: Data): ((row: Entry) => boolean) => {
  const key = sortable[String(field)]?.key
  if (key === undefined) throw invalid(`Invalid field (${String(field)}) passed for filter`)
  if (operator !== "range") throw invalid(`Invalid Operator (${String(operator)}) passed for field ${String(field)}`)
  const limits = ["gte", "gt", "lte", "lt"].map((name) => instant((value as Data | undefined)?.[name]))
  if (limits.every((limit) => limit === undefined)) throw invalid(`Invalid value passed for field ${String(field)}`)
  const [gte, gt, lte, lt] = limits
  return (row) => {
    const own = Number(key(row))
    return (
      (gte === undefined || own >= gte) &&
      (gt === undefined || own > gt) &&
      (lte === undefined || own <= lte) &&
      (lt === undefined || own < lt)
    )
  }
}

const totalsOf = new WeakMap<ReadonlyArray<Entry>, ReadonlyArray<Data>>()

/** Number and value of all matching opportunities per stage; cached per list, because this reads every row. */
const perStage = (rows: ReadonlyArray<Entry>, { world }: Service): ReadonlyArray<Data> => {
  const known = totalsOf.get(rows)
  if (known !== undefined) return known
  const totals = new Map<unknown, { count: number; value: number }>()
  for (const row of rows) {
    const { monetaryValue, pipelineStageId } = world.opportunities.data(row)
    const total = totals.get(pipelineStageId) ?? { count: 0, value: 0 }
    totals.set(pipelineStageId, {
      count: total.count + 1,
      value: total.value + (typeof monetaryValue === "number" ? monetaryValue : 0)
    })
  }
  const answer = [...totals].map(([pipelineStageId, { count, value }]) => ({
    pipelineStageId,
    count,
    value: Math.round(value * 100) / 100
  }))
  totalsOf.set(rows, answer)
  return answer
}

/** Page numbers reach the first 10,000 rows; further rows need `searchAfter` (field-notes 3). */
const rowsByPage = 10_000
