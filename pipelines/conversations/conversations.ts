import { openEnum, content, count, boolean, id, instant, json, enumeration, ref, text } from "#catalog/fields.ts"
import { ignored, values, changed, companyName, created, email, personName, phone, tag } from "#catalog/fields.ts"
import { cursor, get, location, size } from "#catalog/request.ts"
import { type Strategy, defineList } from "#catalog/resource.ts"
import { directions } from "#catalog/enums.ts"

// After a bulk message or an import, more conversations than fit on a page may have the same timestamp.
const splitBy = [
  [{ lastMessageDirection: "inbound" }, { lastMessageDirection: "outbound" }],
  [{ status: "unread" }, { status: "read" }],
  (
    "TYPE_SMS TYPE_EMAIL TYPE_CALL TYPE_CAMPAIGN_VOICEMAIL TYPE_FACEBOOK TYPE_INSTAGRAM TYPE_WHATSAPP TYPE_LIVE_CHAT " +
    "TYPE_GROUP_SMS TYPE_SMS_REVIEW_REQUEST TYPE_INTERNAL_COMMENTS TYPE_ACTIVITY_APPOINTMENT TYPE_ACTIVITY_CONTACT " +
    "TYPE_ACTIVITY_INVOICE TYPE_ACTIVITY_PAYMENT TYPE_ACTIVITY_OPPORTUNITY TYPE_ACTIVITY_EMPLOYEE_ACTION_LOG"
  )
    .split(" ")
    .map((lastMessageType) => ({ lastMessageType }))
]

const byLastMessage = (sort: "asc" | "desc"): Strategy => ({
  request: get("/conversations/search", {
    locationId: location,
    sortBy: "last_message_date",
    sort,
    limit: size,
    startAfterDate: cursor
  }),
  paging: { kind: "sortValue", field: "lastMessageDate", splitBy, ...(sort === "desc" && { descending: true }) },
  records: "conversations",
  pageSize: 100,
  total: "total"
})
// Oldest message first, so that a conversation that gets a message during the read moves to a page not yet read. The cursor
// is the sort value, so an incremental read is the same request, with the watermark as the first cursor.
const ascending = byLastMessage("asc")
const descending = byLastMessage("desc")

export const conversations = defineList({
  table: "conversations",
  description: "Threads of messages, one per contact and channel.",
  source: "A 2.12, A 4.9 GET /conversations/search",
  scope: "conversations.readonly",
  full: [ascending, descending],
  // A full reading finds conversations that were assigned, starred or read, because these do not change the date.
  changes: {
    field: "lastMessageDate",
    events: ["message", "conversation", "call"],
    overlap: "15 minutes",
    strategies: [ascending, { ...descending, stopBefore: "lastMessageDate" }],
    fullEvery: "7 days"
  },
  backfill: { dateField: "lastMessageDate", strategies: [{ ...descending, stopBefore: "lastMessageDate" }] },
  tombstone: "deleted",
  // The list has the channel as a text, the single conversation as a number (A 2.12).
  getOne: { request: get("/conversations/{conversationId}"), record: "", differing: ["type"] },
  person: { contacts: ["contact_id"] },
  fields: {
    id: id("Conversation id"),
    contactId: ref("contacts", "Whom it is with"),
    assignedTo: text("Who answers it", { references: "users" }),
    userId: ref("users", "User it belongs to"),
    type: openEnum("Channel: `TYPE_PHONE`, `TYPE_EMAIL`, …; a number in single reads"),
    unreadCount: count("Messages nobody has read"),
    inbox: boolean("Shown in the inbox"),
    starred: boolean("Marked with a star"),
    deleted: boolean("Removed by a user"),
    lastMessageBody: content("Text of the last message"),
    lastMessageDate: instant("When the last message came or went"),
    lastMessageType: openEnum("Kind of the last message"),
    lastMessageDirection: enumeration(directions),
    lastOutboundMessageAction: enumeration(["automated", "manual"]),
    lastManualMessageDate: instant("Last message written by hand"),
    dateAdded: created("When the thread began"),
    dateUpdated: changed("Last change"),
    fullName: personName("Name of the contact", { copyOf: "contacts.name" }),
    contactName: personName("Name of the contact, as shown", { copyOf: "contacts.name" }),
    companyName: companyName("Company of the contact", { copyOf: "contacts.company_name" }),
    email: email("Address of the contact", { copyOf: "contacts.email" }),
    phone: phone("Phone of the contact", { copyOf: "contacts.phone" }),
    profilePhoto: text("Picture of the contact, as a link", {
      role: "file",
      personal: "direct",
      copyOf: "contacts.profile_photo"
    }),
    lastInternalComment: content("Last comment among the users"),
    attributed: boolean("A campaign is known that it came from"),
    tags: values(
      "conversation_tags",
      "Tags of the contact of each conversation.",
      "tag",
      tag("The tag", { copyOf: "contact_tags.tag" })
    ),
    followers: values(
      "conversation_followers",
      "Users who follow each conversation.",
      "user_id",
      ref("users", "The user")
    ),
    mentions: values(
      "conversation_mentions",
      "Users mentioned in each conversation.",
      "user_id",
      ref("users", "The user")
    ),
    scoring: json("Scores of the contact", { personal: "quasi" }),
    sort: ignored
  }
})
