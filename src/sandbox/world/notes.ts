import { iso } from "../clock.ts"
import { Collection, type Data, type Entry, entry } from "./collection.ts"
import { spoiled, spoilFields } from "./nasty.ts"
import { Random, streams } from "./random.ts"
import type { Setting } from "./setting.ts"
import { noteText } from "./texts.ts"

/** Contact notes (A 2.3): most contacts have none, a few have many. */
export const createNotes = (setting: Setting, contacts: Collection): Collection => {
  const notes = new Collection({
    build: spoiled(
      setting,
      (entry) => note(setting, entry),
      spoilFields({ instants: "dateAdded", flags: "pinned", texts: "body title" })
    )
  })
  let index = 0
  const chance = setting.settings.notesPerContact / (setting.settings.notesPerContact + 1)
  for (const contact of contacts.live()) {
    const random = new Random(setting.seed, streams.note + 500, contact.source as number)
    // A geometric count: its mean is notesPerContact.
    while (random.chance(chance)) {
      const created = contact.created + Math.floor((contact.updated - contact.created) * random.unit())
      const id = new Random(setting.seed, streams.note, index).id()
      notes.add(entry({ id, parent: contact.id, created, source: index++ }))
    }
  }
  return notes
}

const note = (setting: Setting, entry: Entry): Data => {
  const random = new Random(setting.seed, streams.note, entry.source as number)
  random.id()
  return {
    id: entry.id,
    contactId: entry.parent,
    body: noteText(random),
    userId: random.chance(0.8) && setting.userIds.length > 0 ? random.pick(setting.userIds) : undefined,
    title: random.chance(0.3) ? random.pick(["Site visit", "Call", "Estimate", ""]) : undefined,
    color: random.chance(0.2) ? random.pick(["#ffcc00", "#00AAff", "#333"]) : undefined,
    pinned: random.chance(0.3) ? random.chance(0.2) : undefined,
    dateAdded: iso(entry.created)
  }
}
