import { content, id, enumeration, ref, text, values, created, email, identifier } from "#catalog/fields.ts"
import { get } from "#catalog/request.ts"
import { defineChild, oneRecord } from "#catalog/resource.ts"
import { directions, messageSources } from "#catalog/enums.ts"
import { attachments } from "#catalog/shapes.ts"

const recipients = (kind: "to" | "cc" | "bcc") =>
  values("email_recipients", "Addresses each email went to.", "address", email("The address"), {
    key: ["kind", "address"],
    constants: { kind }
  })

const getOne = { request: get("/conversations/messages/email/{emailMessageId}"), record: "" }

export const emails = defineChild({
  table: "emails",
  description: "Emails with their text, which the messages leave out. A message can hold several of one thread.",
  source: "A 2.12, A 4.9 GET /conversations/messages/email/{emailMessageId}",
  scope: "conversations/message.readonly",
  // The content of an email does not change, and a change of its status changes the date of the message.
  childOf: {
    table: "messages",
    column: "id",
    where: "meta IS NOT NULL",
    share: 0.28,
    // The service also sends the ids one level deeper than documented.
    ids: "unnest(json_extract_string(meta, '$.email.messageIds[*]') || json_extract_string(meta, '$.email.email.messageIds[*]'))",
    versionColumn: "date_updated",
    refreshAfter: "180 days",
    strategy: oneRecord(getOne)
  },
  getOne,
  person: {
    contacts: ["contact_id"],
    records: { conversation_id: "conversations" }
  },
  fields: {
    id: id("Email message id"),
    threadId: identifier("Thread the email belongs to"),
    conversationId: ref("conversations", "Its conversation"),
    contactId: ref("contacts", "Whom it is with"),
    direction: enumeration(directions),
    status: enumeration("pending scheduled sent delivered read undelivered connected failed opened".split(" ")),
    subject: content("Subject line"),
    body: content("Text of the email"),
    contentType: text("MIME type of the body"),
    from: email("Address of the sender", { column: "from_address" }),
    to: recipients("to"),
    cc: recipients("cc"),
    bcc: recipients("bcc"),
    attachments: attachments("email_attachments", "Files sent with emails."),
    dateAdded: created("When it came or went"),
    replyToMessageId: ref("emails", "Email it answers"),
    source: enumeration(messageSources),
    provider: text("Kind of service that carried it"),
    conversationProviderId: ref("messaging_providers", "Provider that carried it"),
    altId: identifier("Id at the provider"),
    error: text("Why it failed", { personal: "content" })
  }
})
