import { openEnum, content, count, id, json, object, enumeration, ref, text, values, changed } from "#catalog/fields.ts"
import { created, emailOrPhone, identifier } from "#catalog/fields.ts"
import { type Parameters, cursor, cursorPart, get, location, since, size, windowEnd } from "#catalog/request.ts"
import { type Strategy, defineList } from "#catalog/resource.ts"
import { directions, messageSources } from "#catalog/enums.ts"
import { attachments } from "#catalog/shapes.ts"

const exported = (parameters: Parameters, anchor?: string): Strategy => ({
  request: get("/conversations/messages/export", { locationId: location, limit: size, ...parameters, cursor }),
  paging: { kind: "expiring", field: "nextCursor", ...(anchor && { anchor }) },
  records: "messages",
  // The documents say 1000, the public description and those who measured say 500.
  pageSize: 500,
  total: "total"
})

const callStatuses = "pending completed answered busy no-answer failed canceled voicemail".split(" ")

const emailIds = values(
  "message_emails",
  "Emails of each email message, one thread.",
  "email_id",
  ref("emails", "The email"),
  { key: [] }
)

export const messages = defineList({
  table: "messages",
  description: "Messages, calls and activities of all conversations.",
  source: "A 2.12, A 4.9 GET /conversations/messages/export, GET /conversations/{conversationId}/messages",
  scope: "conversations/message.readonly",
  full: [exported({ sortBy: "createdAt", sortOrder: "asc", startDate: since("iso") }, "dateAdded")],
  // Without a channel, the export returns all messages except emails.
  partitions: { other: {}, email: { parameters: { channel: "Email" } } },
  changes: {
    field: "dateUpdated",
    events: ["message", "conversation", "call"],
    fallback: { field: "dateAdded", overlap: "7 days" },
    overlap: "15 minutes",
    strategies: [{ ...exported({ sortBy: "updatedAt", sortOrder: "desc" }), stopBefore: "dateUpdated" }],
    // Only a full sync finds deleted messages.
    fullEvery: "30 days"
  },
  backfill: {
    dateField: "dateAdded",
    strategies: [
      {
        ...exported(
          { sortBy: "createdAt", sortOrder: "asc", startDate: since("iso"), endDate: windowEnd("iso") },
          "dateAdded"
        ),
        verifyField: "dateAdded"
      }
    ]
  },
  // The export omits group chats and review requests, so conversations that consist of these are read one by one.
  childOf: {
    table: "conversations",
    tombstone: "deleted",
    column: "conversation_id",
    where:
      "type IN ('TYPE_GROUP_SMS', 'TYPE_REVIEW', '4', '5') OR last_message_type IN ('TYPE_GROUP_SMS', 'TYPE_SMS_REVIEW_REQUEST')",
    share: 0.05,
    partial: {
      omits: "review requests and group chats whose conversation goes on with other messages",
      unless: "conversation_messages"
    },
    versionColumn: "last_message_date",
    refreshAfter: "30 days",
    strategy: {
      request: get("/conversations/{conversationId}/messages", {
        limit: size,
        lastMessageId: cursorPart("lastMessageId")
      }),
      paging: { kind: "body", parts: { lastMessageId: "messages.lastMessageId" } },
      records: "messages.messages",
      // As the public description of the interface has it.
      elsewhere: ["messages"],
      more: "messages.nextPage",
      pageSize: 100
    }
  },
  getOne: { request: get("/conversations/messages/{messageId}"), record: "" },
  person: {
    contacts: ["contact_id"],
    records: { conversation_id: "conversations" }
  },
  fields: {
    id: id("Message id"),
    conversationId: ref("conversations", "Its conversation"),
    contactId: ref("contacts", "Whom it is with"),
    type: text("Kind of message as a number"),
    messageType: openEnum("Kind of message: `TYPE_SMS`, `TYPE_CALL`, `TYPE_EMAIL`, …"),
    direction: enumeration(directions),
    status: enumeration(
      (
        "connected delivered failed opened pending read scheduled sent undelivered clicked opt_out " +
        // The service also sends the status of a call as the status of its message.
        "completed answered busy no-answer canceled voicemail"
      ).split(" ")
    ),
    contentType: text("MIME type of the body"),
    body: content("Text of the message; empty for email, see emails"),
    subject: content("Subject line"),
    dateAdded: created("When it came or went"),
    dateUpdated: changed("Last change, for example of its status"),
    source: enumeration(messageSources),
    userId: ref("users", "User who sent it"),
    from: emailOrPhone("Phone or address of the sender", { column: "from_address" }),
    to: emailOrPhone("Phone or address of the receiver", { column: "to_address" }),
    error: text("Why it failed", { personal: "content" }),
    altId: identifier("Id at the provider"),
    conversationProviderId: ref("messaging_providers", "Provider that carried it"),
    chatWidgetId: identifier("Chat widget it was typed into"),
    meta: object(
      {
        callDuration: count("Length of the call in seconds", { column: "call_duration_seconds" }),
        callStatus: enumeration(callStatuses, "How the call ended", { column: "call_status" }),
        call: object({
          duration: count("Length of the call in seconds", { column: "call_duration_seconds" }),
          status: enumeration(callStatuses, "How the call ended", { column: "call_status" })
        }),
        // The service also sends the ids one level deeper than documented.
        email: object({ messageIds: emailIds, email: object({ messageIds: emailIds }) })
      },
      { whole: json("Details by kind of message, as sent", { column: "meta", personal: "direct" }) }
    ),
    activity: json("What happened, of a message that tells of an activity, as sent", { personal: "content" }),
    attachments: attachments("message_attachments", "Files sent with messages.")
  }
})
