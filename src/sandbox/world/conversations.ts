import { epoch, iso } from "../clock.ts"
import { Collection, type Data, type Entry, entry, without } from "./collection.ts"
import { conversationTypes } from "./message-types.ts"
import { spoiled, spoilFields } from "./nasty.ts"
import { person } from "./people.ts"
import { Random, streams } from "./random.ts"
import { creationTime, type Setting } from "./setting.ts"
import { undocumentedOfConversation } from "./undocumented.ts"

/** Conversations (A 2.12); `lastMessage` gives the last seeded message of the one at an index. */
export const createConversations = (
  setting: Setting,
  contacts: Collection,
  lastMessage: (index: number) => Data
): Collection => {
  const owners = [...contacts.live()]
  const { conversations: count } = setting.settings
  const conversations = new Collection({
    build: spoiled(
      setting,
      (entry) => conversation(setting, entry, owners[contactOf(setting, entry.source as number)]!, lastMessage),
      spoilFields({
        instants: "lastMessageDate dateAdded dateUpdated",
        flags: "starred inbox deleted",
        texts: "lastMessageBody fullName"
      })
    ),
    full: without("fullName", "contactName", "phone", "lastMessageDirection", "lastMessageSource"),
    list: (data) => inSearch(setting, data)
  })
  for (let index = 0; index < count && owners.length > 0; index++) {
    const random = new Random(setting.seed, streams.conversation, index)
    const id = random.id()
    const created = creationTime(setting, streams.conversation, index, count)
    const last = lastMessageTime(setting, random, index, created)
    // Assigning, starring and reading move dateUpdated and not lastMessageDate (field-notes 6).
    const updated = random.chance(0.8) ? last : last + Math.floor((setting.end - last) * random.unit() ** 3)
    const kind = random.chance(0.7) ? 1 : random.pick([2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 5, 17])
    const parent = owners[contactOf(setting, index)]!.id
    conversations.add(entry({ id, parent, kind, created, updated, last, source: index }))
  }
  return conversations
}

/**
 * The index of the contact a conversation is with. Both grow alike, so that the share of the way through picks a
 * contact of about the same age.
 */
export const contactOf = ({ settings }: Setting, index: number): number =>
  Math.floor((index * settings.contacts) / settings.conversations)

/**
 * Bulk messages reach several conversations in the same millisecond: one in ten conversations ended with one, so ties
 * on lastMessageDate fall on page edges (field-notes 6). The nasty world has one run longer than the largest page.
 */
const lastMessageTime = (setting: Setting, random: Random, index: number, created: number): number => {
  const { begin, end, nasty, settings } = setting
  const free = created + Math.floor((end - created) * random.unit() ** 2)
  const bulk = random.chance(0.1)
  if (nasty && index < 130) return Math.max(created, end - 3 * 86_400_000)
  if (!bulk) return free
  const spacing = Math.ceil((end - begin) / Math.max(4, settings.conversations / 60))
  return Math.min(end - 1, begin + Math.ceil((free - begin) / spacing) * spacing)
}

const conversation = (setting: Setting, entry: Entry, owner: Entry, lastMessage: (index: number) => Data): Data => {
  const index = entry.source as number
  const random = new Random(setting.seed, streams.conversation + 500, index)
  const who = person(setting.seed, owner.source as number)
  const last = lastMessage(index)
  const userId = setting.userIds.length > 0 ? random.pick(setting.userIds) : undefined
  return {
    id: entry.id,
    locationId: setting.locationId,
    contactId: owner.id,
    assignedTo: random.chance(0.5) ? userId : undefined,
    userId: random.chance(0.2) ? userId : undefined,
    type: entry.kind,
    unreadCount: last["direction"] === "inbound" && random.chance(0.5) ? random.between(1, 4) : 0,
    inbox: random.chance(0.9),
    starred: random.chance(0.08),
    deleted: random.chance(0.01),
    lastMessageBody: last["body"] ?? "",
    lastMessageDate: iso(entry.last),
    lastMessageType: last["messageType"],
    // These two are only for the filters.
    lastMessageDirection: last["direction"],
    lastMessageSource: last["source"],
    fullName: who.name,
    contactName: who.name,
    phone: random.chance(0.85) ? who.phone : undefined,
    ...undocumentedOfConversation(setting, index),
    dateAdded: iso(entry.created),
    dateUpdated: iso(entry.updated)
  }
}

/** In search the type is a string (A 2.12), and the live service was seen to write dates as numbers (field-notes 6). */
const inSearch = (setting: Setting, data: Data): Data => {
  const shown = { ...data, lastMessageDirection: undefined, lastMessageSource: undefined }
  const type = conversationTypes[data["type"] as number] ?? "TYPE_PHONE"
  if (setting.settings.quirks.conversationDates === "iso") return { ...shown, type }
  const [lastMessageDate, dateAdded, dateUpdated] = ["lastMessageDate", "dateAdded", "dateUpdated"].map((name) =>
    epoch(data[name])
  )
  return { ...shown, type, lastMessageDate, dateAdded, dateUpdated }
}
