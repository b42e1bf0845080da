import { iso } from "../../account/clock.ts"
import { conflict } from "../../http/errors.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { between, flag, integer, record, required, text } from "../../http/shape.ts"
import { type Entry, entry } from "../../account/collection.ts"
import { findConversation } from "./conversations.ts"
import { dropNulls, requireReference, wrapRecord } from "../records.ts"

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
      const contact = requireReference(service.world.contacts, body["contactId"], "contactId")
      if (conversationOf(service, contact) !== undefined) throw conflict("The contact has a conversation already")
      return shown(service, openConversation(service, contact))
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
      // Reading and starring change dateUpdated and not lastMessageDate (field-notes 6).
      const source = dropNulls({ ...conversations.data(old), ...body, dateUpdated: iso(now) })
      return shown(service, conversations.replace(old, entry({ ...old, updated: now, source })))
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
      return { success: true }
    }
  }
]

const shown = ({ world }: Service, row: Entry): string =>
  `{"success":true,${wrapRecord("conversation", world.conversations, row).slice(1)}`

export const conversationOf = ({ world }: Service, contact: Entry): Entry | undefined =>
  world.conversations.children(contact.id!)[0]

export const openConversation = ({ clock, random, world }: Service, contact: Entry): Entry => {
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
