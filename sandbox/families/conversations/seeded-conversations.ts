import { epoch, iso } from "../../account/clock.ts"
import { Collection, type Data, type Entry, entry, without } from "../../account/collection.ts"
import { conversationTypes } from "./message-types.ts"
import { withMalformedValues, malformFields } from "../../account/malformed.ts"
import { person } from "../../account/people.ts"
import { Random, streams } from "../../account/random.ts"
import { creationTime, type AccountContext } from "../../account/context.ts"
import { undocumentedOfConversation } from "../../account/undocumented.ts"

/** Conversations (A 2.12); `lastMessage` returns the last seeded message of the conversation with this index. */
export const createConversations = (
  context: AccountContext,
  contacts: Collection,
  lastMessage: (index: number) => Data
): Collection => {
  const owners = [...contacts.live()]
  const { conversations: count } = context.settings
  const conversations = new Collection({
    build: withMalformedValues(
      context,
      (entry) => conversation(context, entry, owners[contactOf(context, entry.source as number)]!, lastMessage),
      malformFields({
        instants: "lastMessageDate dateAdded dateUpdated",
        flags: "starred inbox deleted",
        texts: "lastMessageBody fullName"
      })
    ),
    full: without("fullName", "contactName", "phone", "lastMessageDirection", "lastMessageSource"),
    list: (data) => inSearch(context, data)
  })
  for (let index = 0; index < count && owners.length > 0; index++) {
    const random = new Random(context.seed, streams.conversation, index)
    const id = random.id()
    const created = creationTime(context, streams.conversation, index, count)
    const last = lastMessageTime(context, random, index, created)
    // Assigning, starring and reading change dateUpdated and not lastMessageDate (field-notes 6).
    const updated = random.chance(0.8) ? last : last + Math.floor((context.end - last) * random.unit() ** 3)
    const kind = random.chance(0.7) ? 1 : random.pick([2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 5, 17])
    const parent = owners[contactOf(context, index)]!.id
    conversations.add(entry({ id, parent, kind, created, updated, last, source: index }))
  }
  return conversations
}

/**
 * The index of the contact of a conversation: the one at the same relative position, because both kinds of records grow
 * alike, so that it was created at about the same time.
 */
export const contactOf = ({ settings }: AccountContext, index: number): number =>
  Math.floor((index * settings.contacts) / settings.conversations)

/**
 * The time of the last message. For one conversation in ten it is a bulk message, which several conversations get in the
 * same millisecond, so that ties of lastMessageDate occur at the edges of pages (field-notes 6). With the malformed variant,
 * more conversations than fit on a page have the same time.
 */
const lastMessageTime = (context: AccountContext, random: Random, index: number, created: number): number => {
  const { begin, end, malformed, settings } = context
  const single = created + Math.floor((end - created) * random.unit() ** 2)
  const isBulk = random.chance(0.1)
  if (malformed && index < 130) return Math.max(created, end - 3 * 86_400_000)
  if (!isBulk) return single
  const spacing = Math.ceil((end - begin) / Math.max(4, settings.conversations / 60))
  return Math.min(end - 1, begin + Math.ceil((single - begin) / spacing) * spacing)
}

const conversation = (
  context: AccountContext,
  entry: Entry,
  owner: Entry,
  lastMessage: (index: number) => Data
): Data => {
  const index = entry.source as number
  const random = new Random(context.seed, streams.conversation + 500, index)
  const who = person(context.seed, owner.source as number)
  const last = lastMessage(index)
  const userId = context.userIds.length > 0 ? random.pick(context.userIds) : undefined
  return {
    id: entry.id,
    locationId: context.locationId,
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
    // Only the filters use these two; responses omit them.
    lastMessageDirection: last["direction"],
    lastMessageSource: last["source"],
    fullName: who.name,
    contactName: who.name,
    phone: random.chance(0.85) ? who.phone : undefined,
    ...undocumentedOfConversation(context, index),
    dateAdded: iso(entry.created),
    dateUpdated: iso(entry.updated)
  }
}

/** In a search, the type is a text (A 2.12). The live service was observed to send dates as numbers (field-notes 6). */
const inSearch = (context: AccountContext, data: Data): Data => {
  const shown = { ...data, lastMessageDirection: undefined, lastMessageSource: undefined }
  const type = conversationTypes[data["type"] as number] ?? "TYPE_PHONE"
  if (context.settings.variants.conversationDates === "iso") return { ...shown, type }
  const [lastMessageDate, dateAdded, dateUpdated] = ["lastMessageDate", "dateAdded", "dateUpdated"].map((name) =>
    epoch(data[name])
  )
  return { ...shown, type, lastMessageDate, dateAdded, dateUpdated }
}
