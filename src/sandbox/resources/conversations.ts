import { notFound } from "../errors.ts"
import { extend, listed, pageOf } from "../pages.ts"
import { list as split, oneOf, searchText, whole } from "../parameters.ts"
import type { Answer, Call, Route, Service } from "../route.ts"
import { anything, between, choice, described, integer, list, number, record, text } from "../shape.ts"
import { type Data, type Entry, type Filter, byLast } from "../world/collection.ts"
import { slice } from "../world/position.ts"
import { isAutomated, orderOf, scoreOf, startOf } from "./conversation-orders.ts"

/** Conversations (A 4.9). */
export const conversationRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/conversations/search",
    scope: "conversations.readonly",
    location: { in: "query", name: "locationId" },
    summary: "Search conversations",
    query: {
      contactId: text,
      query: { type: "string", longest: 75 },
      assignedTo: described(text, "Comma-separated user ids, or unassigned."),
      followers: described(text, "Comma-separated."),
      mentions: described(text, "Comma-separated."),
      status: choice("all", "read", "unread", "starred", "recents"),
      lastMessageType: text,
      lastMessageDirection: choice("inbound", "outbound"),
      lastMessageAction: choice("automated", "manual"),
      sort: choice("asc", "desc"),
      sortBy: choice("last_message_date", "last_manual_message_date", "score_profile"),
      sortScoreProfile: text,
      scoreProfile: text,
      scoreProfileMin: number,
      scoreProfileMax: number,
      limit: between(integer, 1, 100),
      startAfterDate: described(
        anything,
        "The sort value of the last conversation of the page before, or an array of it and its id."
      ),
      id: text
    },
    returns: { conversations: list(record("Conversation")), total: integer },
    handle: (call, service) => search(call, service)
  },
  {
    method: "GET",
    path: "/conversations/:conversationId",
    scope: "conversations.readonly",
    summary: "Get a conversation",
    returns: record("Conversation"),
    handle: ({ params }, service) => ({
      body: service.world.conversations.full(findConversation(service, params["conversationId"]!))
    })
  }
]

export const findConversation = ({ world }: Service, id: string): Entry => {
  const found = world.conversations.get(id)
  if (found === undefined) throw notFound(`Conversation with id ${id} not found`)
  return found
}

const search = (call: Call, service: Service): Answer => {
  const { query } = call
  const { conversations } = service.world
  const limit = whole(query.get("limit"), "limit", { fallback: 20, most: 100 })
  const descending = (oneOf(query.get("sort"), "sort", ["asc", "desc"]) ?? "desc") === "desc"
  const order = orderOf(query, service)
  const rows = conversations.sorted(order, filter(call, service))
  const shown = slice(rows, startOf(query, rows, order, descending), limit, descending)
  const texts = listed(conversations, shown)
  // No field of a conversation holds the other sort values, so there they are shown to page on with.
  const sorted =
    order === byLast ? texts : texts.map((text, at) => extend(text, { sort: [order.key(shown[at]!), shown[at]!.id] }))
  return { body: pageOf("conversations", sorted, { total: rows.length }) }
}

const filter = ({ query }: Call, service: Service): Filter | undefined => {
  const { conversations } = service.world
  const tests: Array<(data: Data, row: Entry) => boolean> = []
  const wanted = searchText(query.get("query"), "query")
  const status = oneOf(query.get("status"), "status", ["all", "read", "unread", "starred", "recents"])
  const direction = oneOf(query.get("lastMessageDirection"), "lastMessageDirection", ["inbound", "outbound"])
  const action = oneOf(query.get("lastMessageAction"), "lastMessageAction", ["automated", "manual"])
  const [least, most] = [query.get("scoreProfileMin"), query.get("scoreProfileMax")]
  const assignedTo = split(query.get("assignedTo"))
  const { contactId, id, lastMessageType } = Object.fromEntries(query) as Record<string, string | undefined>
  // Not in the documents: epoch milliseconds on dateAdded (field-notes 6).
  const from = whole(query.get("startDate"), "startDate", { fallback: 0, least: 0 })
  const to = whole(query.get("endDate"), "endDate", { fallback: Number.MAX_SAFE_INTEGER, least: 0 })
  if (from > 0 || to < Number.MAX_SAFE_INTEGER) tests.push((_, row) => row.created >= from && row.created <= to)
  if (contactId) tests.push((_, row) => row.parent === contactId)
  if (id) tests.push((_, row) => row.id === id)
  if (lastMessageType) tests.push((data) => data["lastMessageType"] === lastMessageType)
  if (direction) tests.push((data) => data["lastMessageDirection"] === direction)
  if (action) tests.push((data) => isAutomated(data["lastMessageSource"]) === (action === "automated"))
  const score = (row: Entry): number => scoreOf(row, query.get("scoreProfile") ?? "")
  if (least) tests.push((_, row) => score(row) >= Number(least))
  if (most) tests.push((_, row) => score(row) <= Number(most))
  if (assignedTo) tests.push((data) => assignedTo.includes((data["assignedTo"] as string | undefined) ?? "unassigned"))
  // Nobody follows or is mentioned in the sandbox.
  if (query.get("followers") || query.get("mentions")) tests.push(() => false)
  if (status === "read") tests.push((data) => data["unreadCount"] === 0)
  if (status === "unread") tests.push((data) => data["unreadCount"] !== 0)
  if (status === "starred") tests.push((data) => data["starred"] === true)
  if (wanted)
    tests.push((data) => `${String(data["fullName"])} ${String(data["phone"])}`.toLowerCase().includes(wanted))
  if (tests.length === 0) return undefined
  const names =
    "query status lastMessageDirection lastMessageAction assignedTo contactId id lastMessageType startDate endDate " +
    "followers mentions scoreProfile scoreProfileMin scoreProfileMax"
  const key = JSON.stringify(names.split(" ").map((name) => query.get(name)))
  return { key, test: (row) => ((data: Data) => tests.every((test) => test(data, row)))(conversations.data(row)) }
}
