import { invalid } from "../../http/errors.ts"
import { pageOf } from "../../http/pages.ts"
import type { Answer, Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { between, email, integer, list, phone, record, text } from "../../http/shape.ts"
import type { Data, Entry } from "../../account/collection.ts"

/** Finding contacts by email or phone (A 4.2). */
export const contactDuplicateRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/contacts/lookup",
    scope: "contacts.readonly",
    location: { in: "query", name: "locationId" },
    summary: "Find contacts by exact e-mail or phone",
    query: { email, phone, limit: between(integer, 1, 20), nextCursor: text },
    returns: { contacts: list(record("Contact")), nextCursor: text },
    handle: (call, service) => lookUp(call, service)
  },
  {
    method: "GET",
    path: "/contacts/search/duplicate",
    scope: "contacts.readonly",
    location: { in: "query", name: "locationId" },
    summary: "Find the contact an e-mail or phone number would duplicate",
    query: { email, number: phone },
    returns: { contact: record("Contact") },
    handle: ({ query }, service) => {
      const fields = { email: query["email"] || undefined, phone: query["number"] || undefined }
      if (fields.email === undefined && fields.phone === undefined) throw invalid("email or number should not be empty")
      // The response is not documented (A 4.10): it is the contact or null. If duplicates are allowed, the email comes first.
      const order = service.settings.allowDuplicateContact ? emailFirst : service.settings.duplicateOrder
      const duplicate = duplicateOf(service, fields, order)
      const text = duplicate === undefined ? "null" : service.world.contacts.full(duplicate.entry)
      return `{"contact":${text}}`
    }
  }
]

type Order = Service["settings"]["duplicateOrder"]

const emailFirst: Order = ["email", "phone"]

/** The oldest contact, except `besides`, with the same value in the first field of the order that finds one. */
export const duplicateOf = (
  service: Service,
  fields: Data,
  order: Order = service.settings.duplicateOrder,
  besides?: Entry
): { entry: Entry; field: "email" | "phone" } | undefined => {
  for (const field of order) {
    const entry = contactsWith(service, field, fields[field]).find((own) => own !== besides)
    if (entry !== undefined) return { entry, field }
  }
  return undefined
}

/** The contacts with this value, oldest first. Upper and lower case of an email are the same. */
const contactsWith = ({ world }: Service, field: "email" | "phone", value: unknown): ReadonlyArray<Entry> => {
  if (typeof value !== "string" || value === "") return []
  const key = (data: Data): string | undefined => {
    const own = data[field]
    return typeof own === "string" && own !== "" ? own.toLowerCase() : undefined
  }
  return world.contacts.lookup(field, key, value.toLowerCase()).toSorted((a, b) => a.created - b.created)
}

/** Every full page has a `nextCursor`, so the last page may be empty (A 4.2). */
const lookUp = ({ query }: Call, service: Service): Answer => {
  const sent = (["email", "phone"] as const).filter((name) => (query[name] ?? "") !== "")
  if (sent.length !== 1) throw invalid("exactly one of email and phone must be sent")
  const limit = Number(query["limit"] ?? 20)
  const rows = contactsWith(service, sent[0]!, query[sent[0]!])
  const start = readCursor(String(query["nextCursor"] ?? ""))
  const shown = rows.slice(start, start + limit).map((row) => service.world.contacts.list(row))
  const next = Buffer.from(`after:${start + limit}`).toString("base64url")
  return pageOf("contacts", shown, shown.length === limit ? { nextCursor: next } : {})
}

const readCursor = (sent: string): number => {
  if (sent === "") return 0
  const place = /^after:(\d{1,9})$/.exec(Buffer.from(sent, "base64url").toString())?.[1]
  if (place === undefined) throw invalid("nextCursor is not valid")
  return Number(place)
}
