import { type Field, type Shape, flag, integer, list, number, object, record, text, timestamp } from "../http/shape.ts"

const texts = (names: string): Shape => Object.fromEntries(names.split(" ").map((name) => [name, text]))
const flags = (names: string): Shape => Object.fromEntries(names.split(" ").map((name) => [name, flag]))
const instants = (names: string): Shape => Object.fromEntries(names.split(" ").map((name) => [name, timestamp]))

/** The resources of document 1 (A 2), as in responses, which omit fields without a value. */
export const recordShapes: Readonly<Record<string, Shape>> = {
  Contact: {
    ...texts(
      "id locationId firstName lastName name email emailLowerCase phone gender address1 city state postalCode country " +
        "website timezone dateOfBirth companyName assignedTo source type businessId visitorId"
    ),
    tags: list(text),
    customFields: list(object({ id: text, value: { type: "any" } })),
    dnd: flag,
    dndSettings: object(),
    inboundDndSettings: object(),
    profilePhoto: text,
    isValidWhatsapp: flag,
    createdBy: object(),
    attributions: list(object()),
    attributionSource: object(),
    lastAttributionSource: object(),
    ...instants("lastActivity dateAdded dateUpdated")
  },
  Note: { ...texts("id contactId body userId title color"), pinned: flag, dateAdded: timestamp },
  Task: {
    ...texts("id contactId title body assignedTo"),
    dueDate: timestamp,
    completed: flag,
    deleted: flag,
    relations: list(object())
  },
  CustomField: {
    ...texts("id name fieldKey dataType model placeholder locationId optionDisplayType"),
    ...texts("documentType parentId"),
    standard: flag,
    dateAdded: timestamp,
    position: number,
    picklistOptions: list(text),
    picklistImageOptions: list({ type: "any" }),
    isAllowedCustomOption: flag,
    isMultiFileAllowed: flag,
    maxFileLimit: number,
    acceptedFormat: list(text),
    textBoxListOptions: list(object()),
    urlValidation: object(),
    dateTimeValidation: object(),
    userFieldConfig: object()
  },
  ObjectField: {
    ...texts("id locationId name description placeholder fieldKey dataType objectKey parentId acceptedFormats"),
    ...flags("showInForms allowCustomOption"),
    options: list(object(texts("key label url"))),
    maxFileLimit: number,
    ...instants("dateAdded dateUpdated")
  },
  Folder: texts("id locationId name objectKey"),
  Opportunity: {
    ...texts(
      "id name pipelineId pipelineStageId locationId status contactId assignedTo source lostReasonId " +
        "forecastExpectedCloseDate"
    ),
    monetaryValue: number,
    forecastOriginalCloseDate: text,
    ...instants("forecastLastSlippedAt"),
    forecastSlippageCount: integer,
    forecastDaysSlipped: integer,
    externalObjectId: text,
    relations: list(object()),
    attributions: list(object()),
    forecastProbability: number,
    effectiveProbability: number,
    customFields: list(object()),
    followers: list(text),
    contact: object({ ...texts("id name companyName email phone"), tags: list(text) }),
    notes: list(object()),
    tasks: list(object()),
    calendarEvents: list(object()),
    ...instants("createdAt updatedAt lastStatusChangeAt lastStageChangeAt lastActionDate")
  },
  Pipeline: {
    ...texts("id name locationId colorRenderMode position"),
    ...flags("showInFunnel showInPieChart useOpportunityProbability"),
    stages: list(object({ ...texts("id name"), position: number, showInFunnel: flag, stageWinProbability: number }))
  },
  User: {
    ...instants("dateAdded dateUpdated"),
    totpEnabled: flag,
    ...texts("id name firstName lastName email phone extension profilePhoto platformLanguage"),
    permissions: object(),
    scopes: list(text),
    scopesAssignedToOnly: list(text),
    roles: object({ ...texts("type role"), locationIds: list(text), restrictSubAccount: flag }),
    lcPhone: object(),
    deleted: flag
  },
  Location: {
    ...texts(
      "id name firstName lastName email phone address city state country postalCode website timezone logoUrl companyId"
    ),
    ...texts("currency domain"),
    dateAdded: timestamp,
    permissions: object(),
    business: object(),
    social: object(),
    settings: object(
      flags("allowDuplicateContact allowDuplicateOpportunity allowFacebookNameMerge disableContactTimezone")
    )
  },
  Template: {
    ...texts("id name type locationId"),
    template: object({ ...texts("body subject html"), attachments: list(text) }),
    urlAttachments: list(text),
    dateAdded: timestamp
  },
  RecurringTask: {
    ...texts("id title description locationId assignedTo contactId"),
    rruleOptions: object(),
    totalOccurrence: number,
    deleted: flag,
    ...instants("createdAt updatedAt")
  },
  Workflow: { ...texts("id name status locationId"), version: number, ...instants("createdAt updatedAt") },
  Calendar: {
    ...texts("id locationId name description calendarType slotDurationUnit groupId"),
    ...texts("eventType slug slotIntervalUnit slotBufferUnit"),
    slotDuration: number,
    slotInterval: number,
    slotBuffer: number,
    teamMembers: list(object()),
    ...flags("isActive autoConfirm")
  },
  Appointment: {
    ...texts("id calendarId locationId contactId groupId title appointmentStatus assignedUserId address notes"),
    users: list(text),
    createdBy: object(),
    ...instants("startTime endTime dateAdded dateUpdated")
  },
  Conversation: {
    ...texts("id locationId contactId assignedTo userId lastMessageBody lastMessageType fullName contactName phone"),
    // A single read returns a number, a search a text (A 2.12). With the variant `epoch`, the dates are numbers.
    type: { type: "any" },
    unreadCount: integer,
    ...flags("inbox starred deleted attributed"),
    lastInternalComment: text,
    tags: list(text),
    followers: list(text),
    lastMessageDate: { type: "any" },
    dateAdded: { type: "any" },
    dateUpdated: { type: "any" }
  },
  Message: {
    ...texts(
      "id messageType locationId contactId conversationId direction contentType status body source userId from to error " +
        "altId conversationProviderId chatWidgetId"
    ),
    type: integer,
    attachments: list(text),
    meta: object(),
    ...instants("dateAdded dateUpdated")
  },
  EmailMessage: {
    ...texts(
      "id threadId locationId contactId conversationId body direction contentType from subject status replyToMessageId " +
        "source provider conversationProviderId altId error"
    ),
    to: list(text),
    cc: list(text),
    bcc: list(text),
    attachments: list(text),
    dateAdded: timestamp
  },
  TranscriptSentence: {
    mediaChannel: number,
    sentenceIndex: number,
    startTime: number,
    endTime: number,
    transcript: text,
    confidence: number
  }
}

/** The body of an error response (A 7). */
export const errorRecord: Field = {
  ...record("Error"),
  description: "Some families nest details in error, and the token endpoint has error and error_description."
}
