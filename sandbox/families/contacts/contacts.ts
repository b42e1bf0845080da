import { iso } from "../../account/clock.ts"
import { HttpError } from "../../http/errors.ts"
import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { flag, record } from "../../http/shape.ts"
import { type Data, type Entry, entry } from "../../account/collection.ts"
import { duplicateOf } from "./duplicates.ts"
import { contactChangeShape, contactShape, readContact } from "./fields.ts"
import { dropNulls, wrapRecord } from "../records.ts"

/** Creating, reading, changing and deleting one contact (A 4.2). */
export const contactRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/contacts/:contactId",
    scope: "contacts.readonly",
    summary: "Get a contact",
    returns: { contact: record("Contact") },
    handle: ({ params }, service) => shown(service, findContact(service, params["contactId"]!))
  },
  {
    method: "POST",
    path: "/contacts/",
    scope: "contacts.write",
    location: { in: "body", name: "locationId" },
    summary: "Create a contact",
    body: contactShape,
    status: 201,
    returns: { contact: record("Contact") },
    errors: [409],
    handle: ({ body }, service) => {
      const fields = readContact(body, service)
      refuseDuplicate(service, fields)
      return shown(service, createContact(service, fields))
    }
  },
  {
    method: "PUT",
    path: "/contacts/:contactId",
    scope: "contacts.write",
    summary: "Update a contact",
    body: contactChangeShape,
    returns: { succeeded: flag, contact: record("Contact") },
    errors: [409],
    handle: ({ body, params }, service) => {
      const old = findContact(service, params["contactId"]!)
      const fields = readContact(body, service)
      refuseDuplicate(service, fields, old)
      const next = updateContact(service, old, fields)
      return `{"succeeded":true,"contact":${service.world.contacts.full(next)}}`
    }
  },
  {
    method: "DELETE",
    path: "/contacts/:contactId",
    scope: "contacts.write",
    summary: "Delete a contact",
    returns: { succeeded: flag },
    handle: ({ params }, service) => {
      deleteContact(service, findContact(service, params["contactId"]!))
      return { succeeded: true }
    }
  }
]

export const findContact = ({ settings, world }: Service, id: string): Entry => {
  const found = world.contacts.get(id)
  if (found !== undefined) return found
  // The documents say 404; the live service was observed to respond with 400 (field-notes 1).
  throw new HttpError(settings.variants.unknownContactStatus, `Contact with id ${id} not found`)
}

export const createContact = (service: Service, fields: Data): Entry => {
  const { clock, deliveries, random, settings, world } = service
  const id = random.id()
  const now = clock.now()
  const { locationId } = world.context
  const dateUpdated = settings.variants.contactDateUpdated === "always" ? iso(now) : undefined
  const rest = { ...defaults, ...withEmail(named(fields, fields)), dateAdded: iso(now), dateUpdated }
  const source = dropNulls({ id, locationId, ...rest })
  deliveries.trigger("contact_created", source)
  return world.contacts.add(entry({ id, created: now, source }))
}

export const updateContact = ({ clock, world }: Service, old: Entry, fields: Data): Entry => {
  const now = clock.now()
  const data = world.contacts.data(old)
  const next = { ...data, ...fields }
  const isRenamed = "firstName" in fields || "lastName" in fields
  const source = dropNulls({ ...data, ...withEmail(isRenamed ? named(fields, next) : fields), dateUpdated: iso(now) })
  return world.contacts.replace(old, entry({ ...old, updated: now, source }))
}

/** Deletes a contact with its notes and tasks; opportunities and conversations remain. */
export const deleteContact = ({ world }: Service, contact: Entry): void => {
  const id = contact.id as string
  for (const note of world.notes.children(id)) world.notes.remove(note)
  for (const task of world.tasks.children(id)) world.tasks.remove(task)
  world.contacts.remove(contact)
}

/** Throws 409 for a duplicate if the account forbids duplicates (A 7). */
const refuseDuplicate = (service: Service, fields: Data, besides?: Entry): void => {
  const { allowDuplicateContact, duplicateOrder } = service.settings
  if (allowDuplicateContact) return
  const duplicate = duplicateOf(service, fields, duplicateOrder, besides)
  if (duplicate === undefined) return
  const message = "This location does not allow duplicated contacts."
  const meta = { contactId: duplicate.entry.id, matchingField: duplicate.field }
  throw new HttpError(409, message, { statusCode: 409, message, error: "Conflict", meta })
}

const shown = ({ world }: Service, contact: Entry): string => wrapRecord("contact", world.contacts, contact)

const defaults: Data = { tags: [], customFields: [], dnd: false }

/** Adds a name that was not sent, from the new first and last name of the contact. */
const named = (sent: Data, { firstName, lastName }: Data): Data => {
  if ((sent["name"] ?? "") !== "") return sent
  const parts = [firstName, lastName].filter((part) => typeof part === "string" && part !== "")
  return { ...sent, name: parts.length > 0 ? parts.join(" ") : undefined }
}

/** Adds the email in lower case, and removes it if the email is cleared. */
const withEmail = (sent: Data): Data => {
  if (!("email" in sent)) return sent
  const { email } = sent
  return { ...sent, emailLowerCase: typeof email === "string" && email !== "" ? email.toLowerCase() : undefined }
}
