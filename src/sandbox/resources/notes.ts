import { iso } from "../clock.ts"
import { invalid, malformed, notFound } from "../errors.ts"
import { pageOf } from "../pages.ts"
import type { Route, Service } from "../route.ts"
import { type Data, type Entry, entry } from "../world/collection.ts"
import { findContact, updateContact } from "./contacts.ts"

/** Notes of a contact (A 4.2): unpaged, no count. */
export const noteRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/contacts/:contactId/notes",
    scope: "contacts.readonly",
    handle: ({ params }, service) => {
      const contact = findContact(service, params["contactId"]!)
      const { notes } = service.world
      const newestFirst = [...notes.children(contact.id as string)].sort((a, b) => b.created - a.created)
      return {
        body: pageOf(
          "notes",
          newestFirst.map((note) => notes.full(note)),
          {}
        )
      }
    }
  },
  {
    method: "POST",
    path: "/contacts/:contactId/notes",
    scope: "contacts.write",
    handle: ({ body, params }, service) => {
      const contact = findContact(service, params["contactId"]!)
      if (body["body"] === undefined || body["body"] === "") throw invalid("body should not be empty")
      return { status: 201, body: wrapped(service, addNote(service, contact, readFields(body))) }
    }
  },
  {
    method: "GET",
    path: "/contacts/:contactId/notes/:id",
    scope: "contacts.readonly",
    handle: ({ params }, service) => ({ body: wrapped(service, findNote(service, params)) })
  },
  {
    method: "PUT",
    path: "/contacts/:contactId/notes/:id",
    scope: "contacts.write",
    handle: ({ body, params }, service) => {
      const old = findNote(service, params)
      const { notes } = service.world
      const source = { ...notes.data(old), ...readFields(body) }
      return { body: wrapped(service, notes.replace(old, entry({ ...old, updated: service.clock.now(), source }))) }
    }
  },
  {
    method: "DELETE",
    path: "/contacts/:contactId/notes/:id",
    scope: "contacts.write",
    handle: ({ params }, service) => {
      service.world.notes.remove(findNote(service, params))
      return { body: { succeeded: true } }
    }
  }
]

export const addNote = (service: Service, contact: Entry, fields: Data): Entry => {
  const { clock, random, settings, world } = service
  const id = random.id()
  const now = clock.now()
  if (settings.quirks.noteTouchesContact) updateContact(service, contact, {})
  const source = { id, contactId: contact.id, ...fields, dateAdded: iso(now) }
  return world.notes.add(entry({ id, parent: contact.id, created: now, source }))
}

const findNote = (service: Service, params: Readonly<Record<string, string>>): Entry => {
  const contact = findContact(service, params["contactId"]!)
  const note = service.world.notes.get(params["id"]!)
  if (note === undefined || note.parent !== contact.id) throw notFound(`Note with id ${params["id"]} not found`)
  return note
}

const wrapped = ({ world }: Service, note: Entry): string => `{"note":${world.notes.full(note)}}`

const readFields = (body: Data): Data => {
  const fields: Data = {}
  for (const [name, kind] of Object.entries(kinds)) {
    if (body[name] === undefined) continue
    if (typeof body[name] !== kind) throw malformed(`${name} must be a ${kind}`)
    fields[name] = body[name]
  }
  return fields
}

const kinds = { body: "string", userId: "string", title: "string", color: "string", pinned: "boolean" }
