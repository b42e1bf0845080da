import { invalid } from "../../http/errors.ts"
import type { Answer, Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { flag, integer, list, object, required, text } from "../../http/shape.ts"
import type { Data, Entry } from "../../account/collection.ts"
import { findContact, updateContact } from "./contacts.ts"

const body = { tags: required(list(text, 1)) }

/** Adding and removing tags of one contact, or of several (A 4.2). */
export const contactTagRoutes: ReadonlyArray<Route> = [
  {
    method: "POST",
    path: "/contacts/:contactId/tags",
    scope: "contacts.write",
    summary: "Add tags to a contact",
    body,
    status: 201,
    returns: { tags: list(text) },
    handle: (call, service) => retag(call, service, "add")
  },
  {
    method: "DELETE",
    path: "/contacts/:contactId/tags",
    scope: "contacts.write",
    summary: "Remove tags from a contact",
    body,
    returns: { tags: list(text) },
    handle: (call, service) => retag(call, service, "remove")
  },
  {
    method: "POST",
    path: "/contacts/bulk/tags/update/:type",
    scope: "contacts.write",
    location: { in: "body", name: "locationId" },
    summary: "Add tags to many contacts, or remove them",
    body: { contacts: required(list(text, 1)), tags: required(list(text)), removeAllTags: flag },
    status: 201,
    returns: {
      succeeded: flag,
      errorCount: integer,
      responses: list(object({ contactId: text, message: text, type: text }))
    },
    handle: (call, service) => retagMany(call, service)
  }
]

const retag = ({ body, params }: Call, service: Service, type: "add" | "remove"): Answer => {
  const contact = findContact(service, params["contactId"]!)
  return { tags: change(service, contact, type, body["tags"] as ReadonlyArray<string>) }
}

/** The response has an entry for each contact, in the order of the request; an unknown contact does not affect the others. */
const retagMany = ({ body, params }: Call, service: Service): Answer => {
  const type = params["type"]
  if (type !== "add" && type !== "remove") throw invalid("type must be one of the following values: add, remove")
  const { contacts, removeAllTags, tags } = body as { contacts: Array<string>; tags: Array<string> } & Data
  if (removeAllTags !== undefined && type === "add") throw invalid("removeAllTags is for the type remove only")
  if (tags.length === 0 && removeAllTags !== true) throw invalid("tags must contain at least 1 elements")
  const responses = contacts.map((contactId) => {
    const contact = service.world.contacts.get(contactId)
    if (contact === undefined) return { contactId, message: "Contact not found", type: "error" }
    change(service, contact, type, removeAllTags === true ? tagsOf(service, contact) : tags)
    return { contactId, message: type === "add" ? "Tags added" : "Tags removed", type: "success" }
  })
  const errorCount = responses.filter((response) => response.type === "error").length
  return { succeeded: errorCount === 0, errorCount, responses }
}

/** Changes the tags of a contact, and returns the new ones. */
const change = (
  service: Service,
  contact: Entry,
  type: "add" | "remove",
  sent: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const old = tagsOf(service, contact)
  const tags = type === "add" ? [...new Set([...old, ...sent])] : old.filter((tag) => !sent.includes(tag))
  updateContact(service, contact, { tags })
  return tags
}

const tagsOf = ({ world }: Service, contact: Entry): ReadonlyArray<string> => {
  const { tags } = world.contacts.data(contact)
  return Array.isArray(tags) ? (tags as ReadonlyArray<string>) : []
}
