import { iso } from "../account/clock.ts"
import { changeDocuments } from "./change-documents.ts"
import { malformed } from "../http/errors.ts"
import { createContact, deleteContact, updateContact } from "../families/contacts/contacts.ts"
import { addMessage } from "../families/conversations/messages.ts"
import { addNote } from "../families/contacts/notes.ts"
import { createOpportunity, updateOpportunity } from "../families/opportunities/opportunities.ts"
import type { Service } from "../service.ts"
import { type Collection, type Data, type Entry, entry } from "../account/collection.ts"
import { projects, tags } from "../account/names.ts"
import { person } from "../account/people.ts"
import { Random, streams } from "../account/random.ts"
import { messageText, noteText } from "../account/texts.ts"

/** The shares of records that change by default; `notes` is the share of the changed contacts that get a note. */
const defaultShares = {
  contacts: 0.01,
  notes: 1,
  opportunities: 0.01,
  conversations: 0.02,
  messages: 0.002,
  orders: 0.01,
  submissions: 0.01,
  delete: 0,
  seed: 1
}

/** Simulates a period of business: changes, adds and deletes records. Returns the number of each. */
export const change = (body: Data, service: Service): Data => {
  const shares = { ...defaultShares, ...body }
  for (const [name, share] of Object.entries(shares)) {
    if (typeof share !== "number" || share < 0) throw malformed(`${name} must be a number that is not negative`)
  }
  const random = new Random(service.settings.seed, streams.change, shares.seed)
  let changes = 0
  // The clock advances by a millisecond for every three changes, so that only a few have the same timestamp.
  const each = (rows: ReadonlyArray<Entry>, act: (row: Entry) => void): number => {
    for (const row of rows) {
      if (changes++ % 3 === 0) service.clock.advance(1)
      act(row)
    }
    return rows.length
  }
  const { contacts, conversations, messages, opportunities, orders, submissions } = service.world
  const pipelines = [...service.world.pipelines.live()]
  let notes = 0

  const counts = {
    deleted: each(choose(contacts, shares.delete, random), (row) => deleteContact(service, row)),
    contacts: each(choose(contacts, shares.contacts, random), (row) => {
      const changed = updateContact(service, row, newFields(random))
      if (!random.chance(shares.notes)) return
      addNote(service, changed, { body: noteText(random) })
      notes++
    }),
    contactsAdded: each(choose(contacts, shares.contacts / 5, random), () => {
      const who = person(service.settings.seed, 1_000_000 + random.int(1_000_000))
      createContact(service, { ...who, ...newFields(random) })
    }),
    opportunities: each(choose(opportunities, shares.opportunities, random), (row) => {
      const fields = { status: random.pick(["open", "won", "lost"]), monetaryValue: random.between(100, 900_000) / 100 }
      updateOpportunity(service, row, fields)
    }),
    opportunitiesAdded: each(
      choose(contacts, pipelines.length === 0 ? 0 : shares.opportunities / 10, random),
      (row) => {
        const fields = { name: random.pick(projects), pipelineId: random.pick(pipelines).id, status: "open" }
        createOpportunity(service, { ...fields, contactId: row.id })
      }
    ),
    messagesAdded: each(choose(conversations, shares.conversations, random), (row) => {
      const direction = random.pick(["inbound", "outbound"])
      addMessage(service, row, random.pick([2, 2, 2, 3]), { direction, body: messageText(random) })
    }),
    // The delivery and the reading of a message do not change its conversation.
    messages: each(choose(messages, shares.messages, random), (row) => {
      const now = service.clock.now()
      const date = service.settings.variants.messageDateUpdated ? { dateUpdated: iso(now) } : {}
      const source = { ...messages.data(row), status: random.pick(["read", "failed"]), ...date }
      messages.replace(row, entry({ ...row, updated: now, source }))
    }),
    ordersAdded: each(choose(orders, shares.orders, random), (row) => {
      const order = repeat(service, orders, row, random)
      service.deliveries.trigger("order_received", order)
      if (order["paymentStatus"] === "paid") service.deliveries.trigger("payment_received", order)
    }),
    submissionsAdded: each(choose(submissions, shares.submissions, random), (row) => {
      service.deliveries.trigger("form_submitted", repeat(service, submissions, row, random))
    })
  }
  const documents = changeDocuments(service, shares, { random, choose, each, repeat })
  service.clock.advance(1)
  return { ...counts, ...documents, notes }
}

/** Different records, in the given share; at least one unless the share is 0. */
const choose = (collection: Collection, share: number, random: Random): ReadonlyArray<Entry> => {
  const rows = [...collection.live()]
  const count = share > 0 ? Math.min(rows.length, Math.max(1, Math.round(rows.length * share))) : 0
  for (let place = 0; place < count; place++) {
    const other = place + random.int(rows.length - place)
    ;[rows[place], rows[other]] = [rows[other]!, rows[place]!]
  }
  return rows.slice(0, count)
}

/** Adds a copy of an order or submission, with a new id and the current time. */
const repeat = ({ clock, random: ids }: Service, collection: Collection, row: Entry, random: Random): Data => {
  const now = clock.now()
  const data = collection.data(row)
  const id = "_id" in data ? random.hexId(now) : ids.id()
  const dates = { createdAt: iso(now), ...("updatedAt" in data && { updatedAt: iso(now) }) }
  const source = { ...data, ["_id" in data ? "_id" : "id"]: id, ...dates }
  collection.add(entry({ ...row, id, created: now, updated: now, source }))
  return source
}

const newFields = (random: Random): Data => ({
  tags: random.some(tags, 4, 0.5),
  source: "changed",
  dnd: random.chance(0.1),
  ...(random.chance(0.3) && { city: random.pick(["Bangor", "Lewiston", "São Paulo"]) })
})
