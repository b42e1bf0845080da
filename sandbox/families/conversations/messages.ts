import { iso } from "../../account/clock.ts"
import { invalid } from "../../http/errors.ts"
import { oneOf } from "../../http/parameters.ts"
import type { Answer, Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import {
  between,
  choice,
  described,
  flag,
  integer,
  list as listOf,
  object,
  record,
  required,
  text
} from "../../http/shape.ts"
import { type Data, type Entry, entry } from "../../account/collection.ts"
import { emailIds } from "./seeded-email-messages.ts"
import { channels, messageTypes } from "./message-types.ts"
import { findContact } from "../contacts/contacts.ts"
import { findConversation } from "./conversations.ts"
import { find } from "../records.ts"

/** Listing the messages of a conversation, reading one message, and sending one (A 4.9). */
export const messageRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/conversations/:conversationId/messages",
    scope: "conversations/message.readonly",
    summary: "List the messages of a conversation",
    query: {
      limit: between(integer, 1, 100),
      lastMessageId: text,
      type: described(text, "Comma-separated message types.")
    },
    returns: {
      messages: object({ lastMessageId: text, nextPage: flag, messages: listOf(record("Message")) })
    },
    handle: (call, service) => list(call, service)
  },
  {
    method: "GET",
    path: "/conversations/messages/:messageId",
    scope: "conversations/message.readonly",
    summary: "Get a message",
    returns: record("Message"),
    handle: ({ params }, { world }) => {
      return world.messages.full(find(world.messages, params["messageId"], "Message"))
    }
  },
  // Sending is not documented; this is the plainest interpretation (A 4.10).
  {
    method: "POST",
    path: "/conversations/messages",
    scope: "conversations/message.write",
    summary: "Send a message",
    body: {
      type: required(choice(...Object.keys(channels))),
      contactId: required(text),
      message: text,
      subject: text,
      html: text
    },
    status: 201,
    returns: { conversationId: text, messageId: text },
    handle: ({ body }, service) => send(body, service)
  }
]

/** A page of messages, newest first. A client sends `lastMessageId` back for the next page while `nextPage` is true. */
const list = ({ params, query }: Call, service: Service): Answer => {
  const { messages } = service.world
  const conversation = findConversation(service, params["conversationId"]!)
  const limit = Number(query["limit"] ?? 20)
  const types = String(query["type"] ?? "")
    .split(",")
    .filter(Boolean)
  types.forEach((type) => oneOf(type, "type", Object.values(messageTypes)))
  const rows = messages
    .children(conversation.id as string)
    .filter((row) => types.length === 0 || types.includes(messageTypes[row.kind] ?? ""))
    .sort((a, b) => b.created - a.created || (a.id! < b.id! ? 1 : -1))
  const sent = query["lastMessageId"] ?? ""
  const start = sent === "" ? 0 : rows.findIndex((row) => row.id === sent) + 1
  if (sent !== "" && start === 0) throw invalid("lastMessageId is not a message of this conversation")
  const shown = rows.slice(start, start + limit)
  const last = shown.at(-1)?.id ?? (sent === "" ? null : sent)
  const nextPage = start + shown.length < rows.length
  const texts = shown.map((row) => messages.list(row)).join(",")
  return `{"messages":{"lastMessageId":${JSON.stringify(last)},"nextPage":${nextPage},"messages":[${texts}]}}`
}

const send = (body: Data, service: Service): Answer => {
  const { contactId, html, message, subject, type } = body as Record<string, string>
  const contact = findContact(service, contactId!)
  const conversation = conversationOf(service, contact) ?? openConversation(service, contact)
  const fields = { direction: "outbound", source: "api", body: html ?? message, subject }
  const sent = addMessage(service, conversation, channels[type!]!, fields)
  return { conversationId: conversation.id, messageId: sent.id }
}

const conversationOf = ({ world }: Service, contact: Entry): Entry | undefined =>
  world.conversations.children(contact.id!)[0]

const openConversation = ({ clock, random, world }: Service, contact: Entry): Entry => {
  const id = random.id()
  const now = clock.now()
  const { firstName, lastName, name, phone } = world.contacts.data(contact)
  const fullName = name ?? `${String(firstName ?? "")} ${String(lastName ?? "")}`.trim()
  const source = {
    id,
    locationId: world.context.locationId,
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

/** Adds a message, which becomes the last one of its conversation. */
export const addMessage = (service: Service, conversation: Entry, kind: number, fields: Data): Entry => {
  const { clock, deliveries, random, settings, world } = service
  const id = random.id()
  const now = clock.now()
  const old = world.conversations.data(conversation)
  const source = {
    id,
    type: kind,
    messageType: messageTypes[kind],
    locationId: world.context.locationId,
    contactId: conversation.parent,
    conversationId: conversation.id,
    dateAdded: iso(now),
    ...(settings.variants.messageDateUpdated && { dateUpdated: iso(now) }),
    contentType: kind === 3 ? "text/html" : "text/plain",
    status: "delivered",
    attachments: [],
    ...fields,
    ...(kind === 3 && {
      meta: { email: { messageIds: emailIds(id, 1) } },
      body: undefined,
      written: { html: fields["body"], subject: fields["subject"] },
      subject: undefined
    })
  }
  const last = {
    lastMessageBody: source["body" as keyof typeof source] ?? "",
    lastMessageDate: iso(now),
    lastMessageType: messageTypes[kind],
    lastMessageDirection: fields["direction"],
    lastMessageSource: fields["source"]
  }
  const next = { ...old, ...last, dateUpdated: iso(now) }
  world.conversations.replace(conversation, entry({ ...conversation, updated: now, last: now, source: next }))
  const trigger = fields["direction"] === "inbound" ? "message_inbound" : "message_outbound"
  deliveries.trigger(trigger, { ...source, written: undefined })
  return world.messages.add(entry({ id, parent: conversation.id, kind, created: now, source }))
}
