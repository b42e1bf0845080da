import { iso } from "../clock.ts"
import { conflict } from "../errors.ts"
import type { Route, Service } from "../route.ts"
import { between, flag, integer, record, required, text } from "../shape.ts"
import { type Entry, entry } from "../world/collection.ts"
import { findConversation } from "./conversations.ts"
import { present, referred, wrapped } from "./references.ts"

const returns = { success: flag, conversation: record("Conversation") }

/** Creating, changing and deleting conversations (A 4.9). */
export const conversationWriteRoutes: ReadonlyArray<Route> = [
  {
    method: "POST",
    path: "/conversations/",
    scope: "conversations.write",
    location: { in: "body", name: "locationId" },
    summary: "Create a conversation",
    body: { contactId: required(text) },
    status: 201,
    returns,
    errors: [409],
    handle: ({ body }, service) => {
      const contact = referred(service.world.contacts, body["contactId"], "contactId")
      if (conversationOf(service, contact) !== undefined) throw conflict("The contact has a conversation already")
      return { body: shown(service, openConversation(service, contact)) }
    }
  },
  {
    method: "PUT",
    path: "/conversations/:conversationId",
    scope: "conversations.write",
    location: { in: "body", name: "locationId" },
    summary: "Update a conversation",
    body: { unreadCount: between(integer, 0), starred: flag },
    returns,
    handle: ({ body, params }, service) => {
      const { conversations } = service.world
      const old = findConversation(service, params["conversationId"]!)
      const now = service.clock.now()
      // Reading and starring move dateUpdated and not lastMessageDate (field-notes 6).
      const source = present({ ...conversations.data(old), ...body, dateUpdated: iso(now) })
      return { body: shown(service, conversations.replace(old, entry({ ...old, updated: now, source }))) }
    }
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
      return { body: { success: true } }
    }
  }
]

const shown = ({ world }: Service, row: Entry): string =>
  `{"success":true,${wrapped("conversation", world.conversations, row).slice(1)}`

export const conversationOf = ({ world }: Service, contact: Entry): Entry | undefined =>
  world.conversations.children(contact.id!)[0]

export const openConversation = ({ clock, random, world }: Service, contact: Entry): Entry => {
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
