import { iso } from "../../account/clock.ts"
import { Collection, type Data, type Entry, entry } from "../../account/collection.ts"
import { withMalformedValues, malformFields } from "../../account/malformed.ts"
import { Random, streams } from "../../account/random.ts"
import type { AccountContext } from "../../account/context.ts"
import { noteText } from "../../account/texts.ts"

/** Contact notes (A 2.3): most contacts have none, a few have many. */
export const createNotes = (context: AccountContext, contacts: Collection): Collection => {
  const notes = new Collection({
    build: withMalformedValues(
      context,
      (entry) => note(context, entry),
      malformFields({ instants: "dateAdded", flags: "pinned", texts: "body title" })
    )
  })
  let index = 0
  const chance = context.settings.notesPerContact / (context.settings.notesPerContact + 1)
  for (const contact of contacts.live()) {
    const random = new Random(context.seed, streams.note + 500, contact.source as number)
    // The number of notes has a geometric distribution with the mean notesPerContact.
    while (random.chance(chance)) {
      const created = contact.created + Math.floor((contact.updated - contact.created) * random.unit())
      const id = new Random(context.seed, streams.note, index).id()
      notes.add(entry({ id, parent: contact.id, created, source: index++ }))
    }
  }
  return notes
}

const note = (context: AccountContext, entry: Entry): Data => {
  const random = new Random(context.seed, streams.note, entry.source as number)
  random.id()
  return {
    id: entry.id,
    contactId: entry.parent,
    body: noteText(random),
    userId: random.chance(0.8) && context.userIds.length > 0 ? random.pick(context.userIds) : undefined,
    title: random.chance(0.3) ? random.pick(["Site visit", "Call", "Estimate", ""]) : undefined,
    color: random.chance(0.2) ? random.pick(["#ffcc00", "#00AAff", "#333"]) : undefined,
    pinned: random.chance(0.3) ? random.chance(0.2) : undefined,
    dateAdded: iso(entry.created)
  }
}
