import { iso } from "../../account/clock.ts"
import { invalid, notFound } from "../../http/errors.ts"
import { pageOf } from "../../http/pages.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { type Shape, flag, list, record, required, text } from "../../http/shape.ts"
import { type Data, type Entry, entry } from "../../account/collection.ts"
import { findContact, updateContact } from "./contacts.ts"
import { checkUser, dropNulls, wrapRecord } from "../records.ts"

const fields: Shape = { body: text, userId: text, title: text, color: text, pinned: flag }

/** Notes of a contact (A 4.2). The list has no pages and no count. */
export const noteRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/contacts/:contactId/notes",
    scope: "contacts.readonly",
    summary: "List the notes of a contact",
    returns: { notes: list(record("Note")) },
    handle: ({ params }, service) => {
      const contact = findContact(service, params["contactId"]!)
      const { notes } = service.world
      const newestFirst = [...notes.children(contact.id as string)].sort((a, b) => b.created - a.created)
      return pageOf(
        "notes",
        newestFirst.map((note) => notes.full(note)),
        {}
      )
    }
  },
  {
    method: "POST",
    path: "/contacts/:contactId/notes",
    scope: "contacts.write",
    summary: "Create a note",
    body: { ...fields, body: required(text) },
    status: 201,
    returns: { note: record("Note") },
    handle: ({ body, params }, service) => {
      const contact = findContact(service, params["contactId"]!)
      return wrapRecord("note", service.world.notes, addNote(service, contact, readNote(body, service)))
    }
  },
  {
    method: "GET",
    path: "/contacts/:contactId/notes/:id",
    scope: "contacts.readonly",
    summary: "Get a note",
    returns: { note: record("Note") },
    handle: ({ params }, service) => wrapRecord("note", service.world.notes, findNote(service, params))
  }
]

export const addNote = (service: Service, contact: Entry, fields: Data): Entry => {
  const { clock, random, settings, world } = service
  const id = random.id()
  const now = clock.now()
  if (settings.variants.noteTouchesContact) updateContact(service, contact, {})
  const source = dropNulls({ id, contactId: contact.id, ...fields, dateAdded: iso(now) })
  return world.notes.add(entry({ id, parent: contact.id, created: now, source }))
}

const findNote = (service: Service, params: Readonly<Record<string, string>>): Entry => {
  const contact = findContact(service, params["contactId"]!)
  const note = service.world.notes.get(params["id"]!)
  if (note === undefined || note.parent !== contact.id) throw notFound(`Note with id ${params["id"]} not found`)
  return note
}

const readNote = (body: Data, service: Service): Data => {
  checkUser(body["userId"], "userId", service)
  const { color } = body
  if (typeof color === "string" && color !== "" && !/^#([0-9a-f]{3}){1,2}$/i.test(color)) {
    throw invalid("color must be a hexadecimal color")
  }
  return body
}
