import { iso } from "../../account/clock.ts"
import type { Collection, Data, Entry } from "../../account/collection.ts"
import { DerivedCollection } from "../../account/derived.ts"
import { email } from "./message-types.ts"
import { person } from "../../account/people.ts"
import { Random, streams } from "../../account/random.ts"
import type { AccountContext } from "../../account/context.ts"
import { messageText } from "../../account/texts.ts"

/** The ids of the emails of a message. They contain its id, so that the message can be found without an index. */
export const emailIds = (messageId: string, count: number): Array<string> =>
  Array.from({ length: count }, (_, place) => `${messageId}E${place}`)

/** Emails (A 2.12), whose ids are in `meta.email.messageIds` of a message. */
export const createEmails = (context: AccountContext, messages: Collection, contacts: Collection): Collection =>
  new DerivedCollection({
    from: messages,
    has: (message) => message.kind === email,
    idsOf: (message) => {
      const meta = messages.data(message)["meta"] as { email?: { messageIds?: ReadonlyArray<string> } } | undefined
      return meta?.email?.messageIds ?? []
    },
    sourceOf: (id) => id.replace(/E\d+$/, ""),
    build: (id, message) => emailMessage(context, id, message, messages.data(message), contacts)
  })

const emailMessage = (context: AccountContext, id: string, entry: Entry, message: Data, contacts: Collection): Data => {
  const place = Number(/\d+$/.exec(id)?.[0] ?? 0)
  const isSeeded = typeof entry.source === "number"
  const random = new Random(context.seed, streams.email + place, isSeeded ? entry.source : entry.created % 1e9)
  const customer = customerOf(context, message, contacts, random)
  const inbound = message["direction"] === "inbound"
  const { html, subject } = (message["written"] ?? {}) as { html?: string; subject?: string }
  const text = messageText(random)
  return {
    id,
    threadId: entry.id,
    locationId: context.locationId,
    contactId: message["contactId"],
    conversationId: message["conversationId"],
    dateAdded: iso(entry.created + place * 1000),
    subject: subject ?? `${place === 0 ? "" : "Re: "}${text.split(/[\n.?!]/)[0]}`,
    body: html ?? `<html><body><p>${text.replaceAll("\n", "<br>")}</p></body></html>`,
    direction: message["direction"],
    contentType: "text/html",
    status: statuses.includes(message["status"] as string) ? message["status"] : "delivered",
    from: inbound ? customer : office,
    to: [inbound ? office : customer],
    cc: random.chance(0.1) ? ["crew@harborandpine.example"] : undefined,
    bcc: random.chance(0.03) ? ["archive@harborandpine.example"] : undefined,
    attachments: random.chance(0.1) ? [`https://files.example/${random.id()}.pdf`] : [],
    replyToMessageId: place > 0 ? emailIds(entry.id!, place)[place - 1] : undefined,
    source: message["source"],
    provider: random.chance(0.5) ? "smtp" : undefined,
    conversationProviderId: message["conversationProviderId"],
    altId: message["altId"],
    error: message["status"] === "failed" ? "550 5.1.1 no such mailbox" : undefined
  }
}

/** The address of the contact, or a placeholder if the contact has none or was deleted. */
const customerOf = (context: AccountContext, message: Data, contacts: Collection, random: Random): string => {
  const contact = contacts.get(message["contactId"] as string)
  const address = contact === undefined ? undefined : contacts.data(contact)["email"]
  return typeof address === "string" && address !== "" ? address : person(context.seed, random.int(1e6)).email
}

const office = "Harbor & Pine <office@harborandpine.example>"

const statuses = ["pending", "scheduled", "sent", "delivered", "read", "undelivered", "connected", "failed", "opened"]
