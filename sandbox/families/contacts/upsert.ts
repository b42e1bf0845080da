import type { Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { flag, record, text } from "../../http/shape.ts"
import type { Data, Entry } from "../../account/collection.ts"
import { duplicateOf } from "./duplicates.ts"
import { contactShape, readContact } from "./fields.ts"
import { createContact, updateContact } from "./contacts.ts"

/** POST /contacts/upsert (A 4.2). */
export const contactUpsertRoutes: ReadonlyArray<Route> = [
  {
    method: "POST",
    path: "/contacts/upsert",
    scope: "contacts.write",
    location: { in: "body", name: "locationId" },
    summary: "Create a contact, or update the one it would duplicate",
    body: { ...contactShape, createNewIfDuplicateAllowed: flag },
    returns: { new: flag, contact: record("Contact"), traceId: text },
    handle: ({ body }, service) => {
      const { contacts } = service.world
      const fields = readContact(body, service)
      // The flag has no effect if the account forbids duplicates.
      const isNew = body["createNewIfDuplicateAllowed"] === true && service.settings.allowDuplicateContact
      const old = isNew ? undefined : duplicateOf(service, fields)?.entry
      const next =
        old === undefined ? createContact(service, fields) : updateContact(service, old, unshared(fields, old, service))
      const traceId = JSON.stringify(service.random.id())
      return `{"new":${old === undefined},"contact":${contacts.full(next)},"traceId":${traceId}}`
    }
  }
]

/** If two contacts match and duplicates are forbidden, the updated one does not get the values of the other. */
const unshared = (fields: Data, old: Entry, service: Service): Data => {
  const { allowDuplicateContact, duplicateOrder } = service.settings
  const other = allowDuplicateContact ? undefined : duplicateOf(service, fields, duplicateOrder, old)
  return other === undefined ? fields : { ...fields, [other.field]: service.world.contacts.data(old)[other.field] }
}
