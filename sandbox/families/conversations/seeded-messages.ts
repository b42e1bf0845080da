import { iso } from "../../account/clock.ts"
import { Collection, type Data, type Entry, entry } from "../../account/collection.ts"
import { contactOf } from "./seeded-conversations.ts"
import { emailIds } from "./seeded-email-messages.ts"
import { messagesIn, messageTypes, rarer } from "./message-types.ts"
import { idBeside, withMalformedValues, malformFields } from "../../account/malformed.ts"
import { person } from "../../account/people.ts"
import { Random, streams } from "../../account/random.ts"
import type { AccountContext } from "../../account/context.ts"
import { messageText } from "../../account/texts.ts"

/** Messages (A 2.12), spread over the time of their conversation; the last one is at its lastMessageDate. */
export const createMessages = (
  context: AccountContext,
  conversations: Collection
): { messages: Collection; lastSeeded: ReadonlyArray<Entry> } => {
  const owners = [...conversations.live()]
  const { busyYear } = context.settings
  const counts = messageCounts(context, owners.length)
  const ownerOfMessage = new Uint32Array(context.settings.messages)
  const lastSeeded: Array<Entry> = []
  const messages = new Collection({
    build: withMalformedValues(
      context,
      (entry) => message(context, entry, owners[ownerOfMessage[entry.source as number]!]!),
      malform
    ),
    // The text of an email that was sent in the sandbox is stored in its message, but only a read of the email returns it.
    full: (data) => ("written" in data ? { ...data, written: undefined } : data)
  })
  let index = 0
  let previous: string | undefined
  let before = 0
  owners.forEach((owner, ownerIndex) => {
    const count = counts[ownerIndex]!
    for (let place = 0; place < count; place++) {
      ownerOfMessage[index] = ownerIndex
      const random = new Random(context.seed, streams.message, index)
      const id = idBeside(context, index, random.id(), previous)
      const step = (owner.last - owner.created) / count
      const isLast = place === count - 1
      const isReply = busyYear && place > 0 && index % 2 === 1
      const created = isLast
        ? owner.last
        : isReply
          ? soonAfter(random, before, owner.last)
          : Math.floor(owner.created + step * (place + random.unit()))
      before = created
      // The delivery or reading changes a message up to three days after it was sent.
      const late = random.chance(0.3) ? Math.floor(259_200_000 * random.unit() ** 4) : 0
      const updated = Math.max(created, Math.min(context.end, created + late))
      // Calls and emails cost a request each, of which a demo has few.
      const usual = random.pick(busyYear && !isLast && owner.kind < 3 ? [2] : (messagesIn[owner.kind] ?? [2]))
      const kind = usual in rarer && random.chance(0.3) ? rarer[usual]! : usual
      lastSeeded[ownerIndex] = messages.add(entry({ id, parent: owner.id, kind, created, updated, source: index }))
      previous = id
      index++
    }
  })
  return { messages, lastSeeded }
}

/** Within some hours of another message. */
const soonAfter = (random: Random, before: number, latest: number): number =>
  Math.min(latest, before + Math.floor(6 * 3_600_000 * random.unit() ** 2))

const malform = malformFields({ instants: "dateAdded dateUpdated", texts: "body error from to status" })

/** The number of messages of each conversation: at least one, and unevenly distributed. */
const messageCounts = (context: AccountContext, conversations: number): Uint32Array => {
  const counts = new Uint32Array(conversations).fill(1)
  const random = new Random(context.seed, streams.message + 500, 0)
  for (let rest = context.settings.messages - conversations; rest > 0 && conversations > 0; rest--) {
    counts[Math.floor(conversations * random.unit() ** 1.7)]!++
  }
  return counts
}

const message = (context: AccountContext, entry: Entry, conversation: Entry): Data => {
  const random = new Random(context.seed, streams.message + 700, entry.source as number)
  const who = person(context.seed, contactOf(context, conversation.source as number))
  const isEmail = entry.kind === 3
  const isCall = entry.kind === 1 || entry.kind === 10
  const isReply = (entry.source as number) % 2 === 1
  const inbound = random.chance(context.settings.busyYear ? (isReply ? 0.1 : 0.8) : 0.45)
  const sender = inbound ? undefined : random.pick(sources)
  const status = random.chance(0.004) ? "queued_v2" : random.pick(statuses)
  return {
    id: entry.id,
    type: entry.kind,
    messageType: messageTypes[entry.kind],
    locationId: context.locationId,
    contactId: conversation.parent,
    conversationId: conversation.id,
    dateAdded: iso(entry.created),
    ...(context.settings.variants.messageDateUpdated && { dateUpdated: iso(entry.updated) }),
    direction: inbound ? "inbound" : "outbound",
    contentType: isEmail ? "text/html" : "text/plain",
    status: isCall && random.chance(0.5) ? undefined : status,
    // Messages omit the body of an email, which only the email itself contains (field-notes 6).
    body: isEmail || isCall ? undefined : messageText(random),
    attachments: isCall || random.chance(0.9) ? [] : [`https://files.example/${random.id()}.jpg`],
    meta: isEmail ? emailMeta(random, entry.id!) : isCall ? callMeta(random) : pageMeta[entry.kind],
    source: sender,
    userId: sender === "app" && context.userIds.length > 0 ? random.pick(context.userIds) : undefined,
    from: isEmail ? undefined : inbound ? who.phone : "+12075550100",
    to: isEmail ? undefined : inbound ? "+12075550100" : who.phone,
    error: status === "failed" ? "30003: unreachable handset" : undefined,
    altId: random.chance(0.3) ? random.id() : undefined,
    conversationProviderId: random.chance(0.05) ? random.id() : undefined,
    chatWidgetId: entry.kind === 29 ? random.id() : undefined
  }
}

const emailMeta = (random: Random, id: string): Data => ({ email: { messageIds: emailIds(id, random.between(1, 3)) } })

const callMeta = (random: Random): Data => {
  const callStatus = random.pick(callStatuses)
  const isUnheard = ["busy", "pending", "failed", "canceled"].includes(callStatus)
  return { ...(!isUnheard && { callDuration: String(random.between(3, 1800)) }), callStatus }
}

/** The pages of the two social channels; their members are not documented. */
const pageMeta: Record<number, Data> = {
  11: { fb: { pageId: "104559210000001", pageName: "Harbor & Pine Renovations" } },
  18: { ig: { pageId: "178414050000001", pageName: "harborandpine" } }
}

const sources = ["workflow", "bulk_actions", "campaign", "api", "app", "app", "app"]
const statuses =
  "delivered delivered sent read opened failed undelivered pending clicked connected scheduled opt_out".split(" ")
const callStatuses = "completed completed completed no-answer busy voicemail answered pending failed canceled".split(
  " "
)
