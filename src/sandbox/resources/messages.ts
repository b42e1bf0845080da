import { iso } from "../clock.ts"
import { invalid, malformed, notFound } from "../errors.ts"
import { oneOf, whole } from "../parameters.ts"
import type { Answer, Call, Route, Service } from "../route.ts"
import { type Data, type Entry, entry } from "../world/collection.ts"
import { channels, messageTypes } from "../world/message-types.ts"
import { findContact } from "./contacts.ts"
import { findConversation } from "./conversations.ts"

/** Messages of a conversation, one message, and a new one (A 4.9). */
export const messageRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/conversations/:conversationId/messages",
    scope: "conversations/message.readonly",
    handle: (call, service) => list(call, service)
  },
  {
    method: "GET",
    path: "/conversations/messages/:messageId",
    scope: "conversations/message.readonly",
    handle: ({ params }, { world }) => {
      const message = world.messages.get(params["messageId"]!)
      if (message === undefined) throw notFound(`Message with id ${params["messageId"]} not found`)
      return { body: world.messages.full(message) }
    }
  },
  // Sending is in no document: the plainest reading (A 4.10).
  {
    method: "POST",
    path: "/conversations/messages",
    scope: "conversations/message.write",
    handle: ({ body }, service) => send(body, service)
  }
]

/** Newest first. `lastMessageId` names the last message shown, and is sent back while `nextPage` is true. */
const list = ({ params, query }: Call, service: Service): Answer => {
  const { messages } = service.world
  const conversation = findConversation(service, params["conversationId"]!)
  const limit = whole(query.get("limit"), "limit", { fallback: 20, most: 100 })
  const types = query.get("type")?.split(",").filter(Boolean) ?? []
  types.forEach((type) => oneOf(type, "type", Object.values(messageTypes)))
  const rows = messages
    .children(conversation.id as string)
    .filter((row) => types.length === 0 || types.includes(messageTypes[row.kind] ?? ""))
    .sort((a, b) => b.created - a.created || (a.id! < b.id! ? 1 : -1))
  const sent = query.get("lastMessageId") ?? ""
  const start = sent === "" ? 0 : rows.findIndex((row) => row.id === sent) + 1
  if (sent !== "" && start === 0) throw invalid("lastMessageId is not a message of this conversation")
  const shown = rows.slice(start, start + limit)
  const last = shown.at(-1)?.id ?? (sent === "" ? null : sent)
  const nextPage = start + shown.length < rows.length
  const texts = shown.map((row) => messages.list(row)).join(",")
  return { body: `{"messages":{"lastMessageId":${JSON.stringify(last)},"nextPage":${nextPage},"messages":[${texts}]}}` }
}

const send = (body: Data, service: Service): Answer => {
  const { contactId, message, type } = body
  const missing = ["type", "contactId"].filter((name) => (body[name] ?? "") === "")
  if (missing.length > 0) throw invalid(...missing.map((name) => `${name} should not be empty`))
  if (typeof contactId !== "string" || typeof type !== "string") throw malformed("type and contactId must be strings")
  const kind = channels[oneOf(type, "type", Object.keys(channels))!]!
  const contact = findContact(service, contactId)
  const { conversations } = service.world
  const known = [...conversations.live()].find((row) => row.parent === contact.id)
  const conversation = known ?? openConversation(service, contact)
  const sent = addMessage(service, conversation, kind, { direction: "outbound", source: "api", body: message })
  return { status: 201, body: { conversationId: conversation.id, messageId: sent.id } }
}

const openConversation = ({ clock, random, world }: Service, contact: Entry): Entry => {
  const id = random.id()
  const now = clock.now()
  const { firstName, lastName, name, phone } = world.contacts.data(contact)
  const fullName = name ?? `${String(firstName ?? "")} ${String(lastName ?? "")}`.trim()
  const source = {
    id,
    locationId: world.setting.locationId,
    contactId: contact.id,
    type: 1,
    unreadCount: 0,
    inbox: true,
    starred: false,
    deleted: false,
    fullName,
    contactName: fullName,
    phone,
    dateAdded: iso(now),
    dateUpdated: iso(now)
  }
  return world.conversations.add(entry({ id, parent: contact.id, kind: 1, created: now, last: now, source }))
}

/** Adds a message and moves its conversation to the front. */
export const addMessage = (service: Service, conversation: Entry, kind: number, fields: Data): Entry => {
  const { clock, random, settings, world } = service
  const id = random.id()
  const now = clock.now()
  const old = world.conversations.data(conversation)
  const source = {
    id,
    type: kind,
    messageType: messageTypes[kind],
    locationId: world.setting.locationId,
    contactId: conversation.parent,
    conversationId: conversation.id,
    dateAdded: iso(now),
    ...(settings.quirks.messageDateUpdated && { dateUpdated: iso(now) }),
    contentType: kind === 3 ? "text/html" : "text/plain",
    status: "delivered",
    attachments: [],
    ...(kind === 3 && { meta: { email: { messageIds: [random.id()] } } }),
    ...fields,
    ...(kind === 3 && { body: undefined })
  }
  const last = {
    lastMessageBody: source["body" as keyof typeof source] ?? "",
    lastMessageDate: iso(now),
    lastMessageType: messageTypes[kind],
    lastMessageDirection: fields["direction"]
  }
  const next = { ...old, ...last, dateUpdated: iso(now) }
  world.conversations.replace(conversation, entry({ ...conversation, updated: now, last: now, source: next }))
  return world.messages.add(entry({ id, parent: conversation.id, kind, created: now, source }))
}
