import { invalid, malformed } from "../errors.ts"
import { listed, pageOf } from "../pages.ts"
import { instant, oneOf } from "../parameters.ts"
import type { Answer, Call, Route, Service } from "../route.ts"
import { choice, described, integer, list, record, text } from "../shape.ts"
import { type Entry, type Filter, byCreated, byUpdated } from "../world/collection.ts"
import { channels, email, unexported } from "../world/message-types.ts"
import { position, slice } from "../world/position.ts"

/** GET /conversations/messages/export (A 4.9). */
export const messageExportRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/conversations/messages/export",
    scope: "conversations/message.readonly",
    location: { in: "query", name: "locationId" },
    summary: "Export messages",
    query: {
      channel: choice(...Object.keys(channels)),
      limit: described(integer, "From 10 to 1000, 100 unless sent."),
      cursor: described(text, "Valid for 2 minutes after the last request."),
      sortBy: choice("createdAt", "updatedAt"),
      sortOrder: choice("asc", "desc"),
      conversationId: text,
      contactId: text,
      startDate: text,
      endDate: text
    },
    returns: { messages: list(record("Message")), nextCursor: text, total: integer },
    handle: (call, service) => exportPage(call, service)
  }
]

const exportPage = (call: Call, service: Service): Answer => {
  const { query } = call
  const limit = readLimit(query.get("limit") ?? "", service)
  const cursor = query.get("cursor") ?? ""
  const found = cursor === "" ? { ...begin(call, service), position: 0 } : service.exportCursors.find(cursor)
  if (found === undefined) {
    service.statistics.expiredCursorsShown++
    throw malformed("cursor is expired or invalid, start the export again")
  }
  const { descending, from, rows, to } = found.export
  const total = to - from
  const size = Math.min(limit, total - found.position)
  // Read from the end of the range when descending.
  const start = descending ? rows.length - to + found.position : from + found.position
  const shown = slice(rows, start, size, descending)
  const next = found.position + size
  const nextCursor = next < total ? service.exportCursors.write(found.id, next) : null
  return { body: pageOf("messages", listed(service.world.messages, shown), { nextCursor, total }) }
}

/** Between 10 and 1,000 (A 4.9); anything else is refused, not cut down (field-notes 1). */
const readLimit = (sent: string, { settings }: Service): number => {
  const most = settings.quirks.exportLimitMax
  const limit = sent === "" ? 100 : Number(sent)
  if (!Number.isInteger(limit)) throw malformed("limit must be an integer number")
  if (limit < 10) throw malformed("limit must not be less than 10")
  if (limit > most) throw malformed(`limit must not be greater than ${most}`)
  return limit
}

/** Takes the messages as they are now. What changes later is not seen through the cursors of this export. */
const begin = ({ query }: Call, service: Service) => {
  const { messages } = service.world
  const sortBy = oneOf(query.get("sortBy"), "sortBy", ["createdAt", "updatedAt"]) ?? "createdAt"
  const descending = (oneOf(query.get("sortOrder"), "sortOrder", ["asc", "desc"]) ?? "desc") === "desc"
  const honoured = service.settings.quirks.exportDates === "honoured"
  const startDate = honoured ? date(query, "startDate") : undefined
  const endDate = honoured ? date(query, "endDate") : undefined
  const channel = oneOf(query.get("channel"), "channel", Object.keys(channels))
  const withinParent = parents(query, service)
  const isByCreated = sortBy === "createdAt"
  // Sorted by another date than the dates filter, the window is not one run of rows and becomes part of the filter.
  const [low, high] = [startDate ?? -Infinity, endDate ?? Infinity]
  const filter: Filter = {
    key: JSON.stringify([
      channel,
      query.get("conversationId"),
      query.get("contactId"),
      !isByCreated && [String(low), String(high)]
    ]),
    test: (row) =>
      isExported(row, channel) &&
      (withinParent === undefined || withinParent.has(row.parent)) &&
      (isByCreated || (row.created >= low && row.created <= high))
  }
  const rows = messages.sorted(isByCreated ? byCreated : byUpdated, filter)
  const from = isByCreated && startDate !== undefined ? position(rows, byCreated, startDate) : 0
  const to = isByCreated && endDate !== undefined ? position(rows, byCreated, endDate, undefined, true) : rows.length
  return service.exportCursors.begin({ rows, from, to: Math.max(from, to), descending })
}

/** Without a channel, every type but email (A 4.9). */
const isExported = (row: Entry, channel: string | undefined): boolean =>
  !unexported.has(row.kind) && (channel === undefined ? row.kind !== email : row.kind === channels[channel])

const parents = (query: URLSearchParams, { world }: Service): ReadonlySet<string | null> | undefined => {
  const [conversationId, contactId] = [query.get("conversationId") ?? "", query.get("contactId") ?? ""]
  if (conversationId === "" && contactId === "") return undefined
  const kept = [...world.conversations.live()].filter(
    (row) => (conversationId === "" || row.id === conversationId) && (contactId === "" || row.parent === contactId)
  )
  return new Set(kept.map((row) => row.id))
}

const date = (query: URLSearchParams, name: string): number | undefined => {
  const sent = query.get(name) ?? ""
  if (sent === "") return undefined
  const at = instant(sent)
  if (at === undefined) throw invalid(`${name} must be a valid date`)
  return at
}
