import { invalid, malformed } from "../../http/errors.ts"
import { listed, pageOf } from "../../http/pages.ts"
import { instant } from "../../http/parameters.ts"
import type { Answer, Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { choice, described, integer, list, record, text } from "../../http/shape.ts"
import { type Data, type Entry, type Filter, byCreated, byUpdated } from "../../account/collection.ts"
import { channels, email, unexported } from "./message-types.ts"
import { position, slice } from "../../account/position.ts"

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
  const limit = readLimit(query["limit"] as number | undefined, service)
  const cursor = String(query["cursor"] ?? "")
  const found = cursor === "" ? { ...begin(call, service), position: 0 } : service.exportCursors.find(cursor)
  if (found === undefined) {
    service.statistics.expiredCursorsShown++
    throw malformed("cursor is expired or invalid, start the export again")
  }
  const { descending, from, rows, to } = found.export
  const total = to - from
  const size = Math.min(limit, total - found.position)
  // A descending export starts at the end of the range.
  const start = descending ? rows.length - to + found.position : from + found.position
  const shown = slice(rows, start, size, descending)
  const next = found.position + size
  const nextCursor = next < total ? service.exportCursors.write(found.id, next) : null
  return pageOf("messages", listed(service.world.messages, shown), { nextCursor, total })
}

/** A limit from 10 to 1,000 (A 4.9). Any other is a 400; the service does not reduce it (field-notes 1). */
const readLimit = (limit = 100, { settings }: Service): number => {
  const most = settings.variants.exportLimitMax
  if (limit < 10) throw malformed("limit must not be less than 10")
  if (limit > most) throw malformed(`limit must not be greater than ${most}`)
  return limit
}

/** Starts an export with a snapshot of the messages; its cursors do not return later changes. */
const begin = ({ query }: Call, service: Service) => {
  const { messages } = service.world
  const sortBy = query["sortBy"] ?? "createdAt"
  const descending = (query["sortOrder"] ?? "desc") === "desc"
  const hasDateFilter = service.settings.variants.exportDates === "honoured"
  const startDate = hasDateFilter ? date(query, "startDate") : undefined
  const endDate = hasDateFilter ? date(query, "endDate") : undefined
  const { channel } = query as { channel?: string }
  const withinParent = parents(query, service)
  const isByCreated = sortBy === "createdAt"
  // The dates filter by creation. In another order, their rows are not contiguous, so the dates become part of the filter.
  const [low, high] = [startDate ?? -Infinity, endDate ?? Infinity]
  const filter: Filter = {
    key: JSON.stringify([
      channel,
      query["conversationId"],
      query["contactId"],
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

/** Without a channel, the export contains every type except email (A 4.9). */
const isExported = (row: Entry, channel: string | undefined): boolean =>
  !unexported.has(row.kind) && (channel === undefined ? row.kind !== email : row.kind === channels[channel])

const parents = (query: Data, { world }: Service): ReadonlySet<string | null> | undefined => {
  const [conversationId, contactId] = [query["conversationId"] ?? "", query["contactId"] ?? ""]
  if (conversationId === "" && contactId === "") return undefined
  const kept = [...world.conversations.live()].filter(
    (row) => (conversationId === "" || row.id === conversationId) && (contactId === "" || row.parent === contactId)
  )
  return new Set(kept.map((row) => row.id))
}

const date = (query: Data, name: string): number | undefined => {
  const sent = query[name] ?? ""
  if (sent === "") return undefined
  const at = instant(sent)
  if (at === undefined) throw invalid(`${name} must be a valid date`)
  return at
}
