import { notFound } from "../../http/errors.ts"
import { extend, listed, pageOf } from "../../http/pages.ts"
import { list as split, searchText, wholeNumber } from "../../http/parameters.ts"
import type { Answer, Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import {
  anything,
  between,
  choice,
  described,
  flag,
  integer,
  list,
  number,
  record,
  text,
  undocumented
} from "../../http/shape.ts"
import { type Data, type Entry, type Filter, byLast } from "../../account/collection.ts"
import { slice } from "../../account/position.ts"
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
      query: { type: "string", maxLength: 75 },
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
      id: text,
      // Epoch milliseconds, for the filter by dateAdded (field-notes 6).
      startDate: undocumented(between(integer, 0)),
      endDate: undocumented(between(integer, 0))
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
    handle: ({ params }, service) =>
      service.world.conversations.full(findConversation(service, params["conversationId"]!))
  },
  {
    method: "DELETE",
    path: "/conversations/:conversationId",
    scope: "conversations.write",
    summary: "Delete a conversation and its messages",
    returns: { success: flag },
    handle: ({ params }, service) => {
      const { conversations, messages } = service.world
      const old = findConversation(service, params["conversationId"]!)
      for (const message of messages.children(old.id!)) messages.remove(message)
      conversations.remove(old)
      return { success: true }
    }
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
  const limit = Number(query["limit"] ?? 20)
  const descending = (query["sort"] ?? "desc") === "desc"
  const order = orderOf(query, service)
  const rows = conversations.sorted(order, filter(call, service))
  const shown = slice(rows, startOf(query, rows, order, descending), limit, descending)
  const texts = listed(conversations, shown)
  // Conversations have no field for other sort values, so `sort` contains the cursor for the next page.
  const sorted =
    order === byLast ? texts : texts.map((text, at) => extend(text, { sort: [order.key(shown[at]!), shown[at]!.id] }))
  return pageOf("conversations", sorted, { total: rows.length })
}

const filter = ({ query }: Call, service: Service): Filter | undefined => {
  const { conversations } = service.world
  const tests: Array<(data: Data, row: Entry) => boolean> = []
  const wanted = searchText(query["query"], "query")
  const status = query["status"]
  const direction = query["lastMessageDirection"]
  const action = query["lastMessageAction"]
  const [least, most] = [query["scoreProfileMin"], query["scoreProfileMax"]]
  const assignedTo = split(query["assignedTo"])
  const { contactId, id, lastMessageType } = query
  const from = wholeNumber(query, "startDate", { fallback: 0, minimum: 0 })
  const to = wholeNumber(query, "endDate", { fallback: Number.MAX_SAFE_INTEGER, minimum: 0 })
  if (from > 0 || to < Number.MAX_SAFE_INTEGER) tests.push((_, row) => row.created >= from && row.created <= to)
  if (contactId) tests.push((_, row) => row.parent === contactId)
  if (id) tests.push((_, row) => row.id === id)
  if (lastMessageType) tests.push((data) => data["lastMessageType"] === lastMessageType)
  if (direction) tests.push((data) => data["lastMessageDirection"] === direction)
  if (action) tests.push((data) => isAutomated(data["lastMessageSource"]) === (action === "automated"))
  const score = (row: Entry): number => scoreOf(row, String(query["scoreProfile"] ?? ""))
  if (least) tests.push((_, row) => score(row) >= Number(least))
  if (most) tests.push((_, row) => score(row) <= Number(most))
  if (assignedTo) tests.push((data) => assignedTo.includes((data["assignedTo"] as string | undefined) ?? "unassigned"))
  // The sandbox has no followers or mentions.
  if (query["followers"] || query["mentions"]) tests.push(() => false)
  if (status === "read") tests.push((data) => data["unreadCount"] === 0)
  if (status === "unread") tests.push((data) => data["unreadCount"] !== 0)
  if (status === "starred") tests.push((data) => data["starred"] === true)
  if (wanted)
    tests.push((data) => `${String(data["fullName"])} ${String(data["phone"])}`.toLowerCase().includes(wanted))
  if (tests.length === 0) return undefined
  const names =
    "query status lastMessageDirection lastMessageAction assignedTo contactId id lastMessageType startDate endDate " +
    "followers mentions scoreProfile scoreProfileMin scoreProfileMax"
  const key = JSON.stringify(names.split(" ").map((name) => query[name]))
  return { key, test: (row) => ((data: Data) => tests.every((test) => test(data, row)))(conversations.data(row)) }
}
