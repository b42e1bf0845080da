import type { Service } from "../service.ts"

/**
 * The answers as recorded live in July 2026 (`--world live`), where they differ from the documents: each a change of the
 * documented answer of one operation.
 */
export const liveShape = (operation: string, body: string): { body: string; status?: number } => {
  const shape = shapes[operation]
  if (shape === undefined) return { body }
  return {
    body: JSON.stringify(shape.change(JSON.parse(body))),
    ...(shape.status !== undefined && { status: shape.status })
  }
}

/** A deleted appointment is answered with its flag. Undefined for one that exists, or never existed. */
export const deletedAppointment = (id: string, { world: { appointments } }: Service): string | undefined => {
  if (appointments.get(id)?.dead === false) return undefined
  const entry = [...appointments.allVersions()].findLast((one) => one.id === id)
  return entry && JSON.stringify({ appointment: { ...appointments.data(entry), id, deleted: true } })
}

type Members = Record<string, any>

const shapes: Readonly<Record<string, { change: (body: Members) => unknown; status?: number }>> = {
  // Names as typed, and the full name in lower case only.
  "POST /contacts/search": {
    change: (body) => ({ ...body, contacts: body["contacts"].map(withoutNames) })
  },
  "GET /contacts/:contactId": {
    change: ({ contact, ...body }) => ({ contact: { ...contact, name: undefined }, ...body })
  },
  "POST /opportunities/search": {
    status: 201,
    change: (body) => ({
      ...body,
      aggregations: {},
      opportunities: body["opportunities"].map(({ searchAfter, ...deal }: Members) => ({ ...deal, sort: searchAfter }))
    })
  },
  "GET /calendars/events/appointments/:eventId": { change: ({ event }) => ({ appointment: event }) },
  "GET /conversations/:conversationId/messages": { change: ({ messages }) => messages },
  "GET /conversations/messages/:messageId": { change: (message) => ({ message }) },
  "GET /locations/:locationId": { change: ({ location }) => ({ location: { ...location, currency: "" } }) }
}

const withoutNames = ({ firstNameRaw, lastNameRaw, ...contact }: Members): Members => {
  const firstName = firstNameRaw ?? contact["firstName"]
  const lastName = lastNameRaw ?? contact["lastName"]
  const contactName = [firstName, lastName].filter(Boolean).join(" ").toLowerCase()
  return { ...contact, name: undefined, firstName, lastName, ...(contactName !== "" && { contactName }) }
}
