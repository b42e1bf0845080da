import { iso } from "../clock.ts"
import { Refusal, invalid, malformed } from "../errors.ts"
import type { Route, Service } from "../route.ts"
import { type Data, type Entry, entry } from "../world/collection.ts"

/** One contact at a time (A 4.2). */
export const contactRoutes: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/contacts/:contactId",
    scope: "contacts.readonly",
    handle: ({ params }, service) => ({ body: wrapped(service, findContact(service, params["contactId"]!)) })
  },
  {
    method: "POST",
    path: "/contacts/",
    scope: "contacts.write",
    location: { in: "body", name: "locationId" },
    handle: ({ body }, service) => ({ status: 201, body: wrapped(service, createContact(service, readFields(body))) })
  },
  {
    method: "PUT",
    path: "/contacts/:contactId",
    scope: "contacts.write",
    handle: ({ body, params }, service) => {
      const old = findContact(service, params["contactId"]!)
      const refused = ["locationId", "gender", "companyName"].filter((name) => name in body)
      if (refused.length > 0) throw invalid(...refused.map((name) => `property ${name} should not exist`))
      const next = updateContact(service, old, readFields(body))
      return { body: `{"succeeded":true,"contact":${service.world.contacts.full(next)}}` }
    }
  },
  {
    method: "DELETE",
    path: "/contacts/:contactId",
    scope: "contacts.write",
    handle: ({ params }, service) => {
      deleteContact(service, findContact(service, params["contactId"]!))
      return { body: { succeeded: true } }
    }
  }
]

export const findContact = ({ settings, world }: Service, id: string): Entry => {
  const found = world.contacts.get(id)
  if (found !== undefined) return found
  // 404 by the documents; the live service was seen to answer 400 (field-notes 1).
  throw new Refusal(settings.quirks.unknownContactStatus, `Contact with id ${id} not found`)
}

export const createContact = ({ clock, random, world }: Service, fields: Data): Entry => {
  const id = random.id()
  const now = clock.now()
  const { locationId } = world.setting
  const rest = { ...defaults, ...named(fields), dateAdded: iso(now), dateUpdated: iso(now) }
  return world.contacts.add(entry({ id, created: now, source: { id, locationId, ...rest } }))
}

export const updateContact = ({ clock, world }: Service, old: Entry, fields: Data): Entry => {
  const now = clock.now()
  const data = world.contacts.data(old)
  const renamed =
    "firstName" in fields || "lastName" in fields ? named({ ...data, ...fields, name: undefined }) : fields
  const source = { ...data, ...renamed, dateUpdated: iso(now) }
  return world.contacts.replace(old, entry({ ...old, updated: now, source }))
}

/** Notes and tasks live under a contact and go with it; deals and conversations stay. */
export const deleteContact = ({ world }: Service, contact: Entry): void => {
  const id = contact.id as string
  for (const note of world.notes.children(id)) world.notes.remove(note)
  for (const task of world.tasks.children(id)) world.tasks.remove(task)
  world.contacts.remove(contact)
}

const wrapped = ({ world }: Service, contact: Entry): string => `{"contact":${world.contacts.full(contact)}}`

const defaults: Data = { tags: [], customFields: [], dnd: false }

/** A name from its parts, and the e-mail in lower case beside the one that was sent. */
const named = (fields: Data): Data => {
  const parts = [fields["firstName"], fields["lastName"]].filter((part) => typeof part === "string" && part !== "")
  const { email } = fields
  return {
    ...fields,
    ...((fields["name"] ?? "") === "" && parts.length > 0 && { name: parts.join(" ") }),
    ...(typeof email === "string" && { emailLowerCase: email.toLowerCase() })
  }
}

/** The contact fields of A 2.2 a body may set; others are ignored. */
const readFields = (body: Data): Data => {
  const sent = Object.entries(body).filter(([name]) => name in kinds)
  for (const [name, value] of sent) {
    const kind = kinds[name as keyof typeof kinds]
    const fits = kind === "list" ? Array.isArray(value) : typeof value === kind
    if (value !== null && !fits) throw malformed(`${name} must be ${kind === "list" ? "an array" : `a ${kind}`}`)
  }
  const fields = Object.fromEntries(sent)
  const problems = [
    typeof fields["email"] === "string" && !/^[^\s@]+@[^\s@]+$/.test(fields["email"]) && "email must be an email",
    typeof fields["phone"] === "string" && !/^\+\d{5,15}$/.test(fields["phone"]) && "phone must have a country code"
  ].filter((problem) => problem !== false)
  if (problems.length > 0) throw invalid(...problems)
  if (fields["customFields"] === undefined) return fields
  return { ...fields, customFields: (fields["customFields"] as ReadonlyArray<unknown>).map(storedValue) }
}

/** Sent as `fieldValue`, or the deprecated `field_value`; read as `value` (A 2.2). */
const storedValue = (sent: unknown): Data => {
  if (typeof sent !== "object" || sent === null) throw malformed("each value in customFields must be an object")
  const { field_value, fieldValue, id, key } = sent as Data
  if (typeof id !== "string" && typeof key !== "string") throw invalid("customFields.0.id should not be empty")
  return { id: id ?? key, value: fieldValue ?? field_value }
}

const kinds = {
  ...Object.fromEntries(
    (
      "firstName lastName name email phone gender address1 city state postalCode country website timezone dateOfBirth " +
      "companyName assignedTo source"
    )
      .split(" ")
      .map((name) => [name, "string"] as const)
  ),
  tags: "list",
  customFields: "list",
  dnd: "boolean",
  dndSettings: "object",
  inboundDndSettings: "object"
} as Record<string, "string" | "list" | "boolean" | "object">
