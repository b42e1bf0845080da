import { membersOf } from "#catalog/json.ts"
import { alias, content, count, date, decimal, boolean, id, instant, json, object } from "#catalog/fields.ts"
import { enumeration, ref, rows, text, ignored, values, changed, companyName, created } from "#catalog/fields.ts"
import { customValue, email, identifier, personName, phone } from "#catalog/fields.ts"
import type { Parameters } from "#catalog/request.ts"
import { cursorOr, cursorPart, get, location, post, since, size, windowEnd, windowStart } from "#catalog/request.ts"
import { type Paging, type Strategy, defineList, pageNumbers } from "#catalog/resource.ts"
import { attributions } from "#catalog/shapes.ts"
import { appointmentStatuses } from "#catalog/enums.ts"

const search = (parameters: Parameters, paging: Paging): Strategy => ({
  request: get("/opportunities/search", {
    locationId: location,
    limit: size,
    status: "all",
    getNotes: true,
    getTasks: true,
    getCalendarEvents: true,
    ...parameters
  }),
  paging,
  records: "opportunities",
  beside: { ...pageNumbers, "meta.nextPageUrl": "null" },
  pageSize: 100,
  total: "meta.total"
})
const afterLast = { startAfter: cursorPart("startAfter"), startAfterId: cursorPart("startAfterId") }
const lastInMeta: Paging = {
  kind: "body",
  parts: { startAfter: "meta.startAfter", startAfterId: "meta.startAfterId" }
}

// The filters are not documented. If the service rejects or ignores them, the list is read completely.
const between = (field: "date_added" | "date_updated", value: Parameters): Strategy => ({
  request: post("/opportunities/search", {
    locationId: location,
    query: "",
    limit: size,
    page: 0,
    searchAfter: cursorOr([]),
    filters: [{ field, operator: "range", value }],
    sort: [{ field, direction: "asc" }],
    additionalDetails: { notes: true, tasks: true, calendarEvents: true, unReadConversations: false }
  }),
  paging: { kind: "lastRecord", field: "searchAfter", elsewhere: "sort" },
  records: "opportunities",
  beside: { aggregations: "any", stageAggregations: "any" },
  pageSize: 100,
  total: "total"
})

export const opportunities = defineList({
  table: "opportunities",
  description: "Deals, each in one stage of one pipeline.",
  source: "A 2.6, A 4.4 GET and POST /opportunities/search",
  scope: "opportunities.readonly",
  // Oldest first, so that new deals are added at the end. The fallbacks use the default order, then page numbers.
  full: [
    search({ order: "added_asc", ...afterLast }, lastInMeta),
    search(afterLast, lastInMeta),
    search({ order: "added_asc", page: cursorOr(1) }, { kind: "pageNumber", first: 1 })
  ],
  // A full reading finds deleted deals, and notes and tasks that did not change the date of their deal.
  changes: {
    field: "updatedAt",
    events: ["opportunity"],
    overlap: "15 minutes",
    fullEvery: "7 days",
    strategies: [{ ...between("date_updated", { gte: since("iso") }), verifyField: "updatedAt" }],
    added: [{ ...between("date_added", { gte: since("iso") }), verifyField: "createdAt" }]
  },
  backfill: {
    dateField: "createdAt",
    strategies: [
      { ...between("date_added", { gte: windowStart("iso"), lt: windowEnd("iso") }), verifyField: "createdAt" }
    ]
  },
  transform: (deal) => [withFieldIds(deal)],
  // Without an id, a custom value has no key, so that its record needs the transformation to have a row.
  transformedBy: [],
  wide: {
    table: "opportunity_custom_values",
    field: "custom_field_id",
    model: "opportunity",
    byKey: true,
    prefix: "cf_"
  },
  getOne: { request: get("/opportunities/{id}"), record: "opportunity" },
  cascadesFrom: { table: "pipelines", column: "pipeline_id" },
  person: {
    contacts: [
      "contact_id",
      "opportunity_relations.record_id",
      "opportunity_notes.contact_id",
      "opportunity_tasks.contact_id",
      "opportunity_calendar_events.contact_id"
    ]
  },
  fields: {
    id: id("Opportunity id"),
    name: text("Name of the deal", { personal: "content" }),
    pipelineId: ref("pipelines", "Its pipeline"),
    pipelineStageId: ref("pipeline_stages", "Its stage"),
    status: enumeration(["open", "won", "lost", "abandoned"]),
    contactId: ref("contacts", "Whom the deal is with"),
    assignedTo: text("Who owns the deal", { references: "users" }),
    source: text("Where the deal came from"),
    monetaryValue: decimal("Worth of the deal in `locations.currency`", { personal: "financial" }),
    lostReasonId: ref("lost_reasons", "Why it was lost"),
    forecastExpectedCloseDate: date("Day it is expected to close"),
    forecastProbability: decimal("Chance of winning set by hand, 0 to 100"),
    forecastOriginalCloseDate: date("Day it was first expected to close"),
    forecastSlippageCount: count("How often the expected day was moved to a later one"),
    forecastDaysSlipped: count("Days by which the expected day was moved in all"),
    forecastLastSlippedAt: instant("When the expected day was last moved to a later one"),
    effectiveProbability: decimal("Chance of winning that counts, 0 to 100"),
    createdAt: created("When the deal was made"),
    updatedAt: changed("Last change"),
    lastStatusChangeAt: instant("Last change of status"),
    lastStageChangeAt: instant("Last change of stage"),
    lastActionDate: instant("Last action on the deal"),
    externalObjectId: identifier("Id of the deal in another system"),
    pipelineStageUId: text("Further id of its stage", { column: "pipeline_stage_uid" }),
    indexVersion: text("Version of the service's index entry"),
    contact: object(
      {
        id: alias("contactId"),
        name: personName("Name of the contact, as the deal shows it", { copyOf: "contacts.name" }),
        companyName: companyName("Company of the contact, as the deal shows it", { copyOf: "contacts.company_name" }),
        email: email("Address of the contact, as the deal shows it", { copyOf: "contacts.email" }),
        phone: phone("Phone of the contact, as the deal shows it", { copyOf: "contacts.phone" })
      },
      { whole: json("Summary of the contact, as sent", { personal: "direct", column: "contact" }), plain: "id" }
    ),
    relations: rows("opportunity_relations", "Contacts and other records that each deal is tied to.", {
      objectKey: text("Kind of the other record, for example `contact`"),
      recordId: identifier("Id of the other record"),
      relationId: identifier("Id of the tie"),
      associationId: ref("associations", "Id of the kind of tie"),
      primary: boolean("The main one", { column: "is_primary" }),
      fullName: personName("Name of the contact", { copyOf: "contacts.name" }),
      contactName: alias("fullName"),
      companyName: companyName("Company of the contact", { copyOf: "contacts.company_name" }),
      email: email("Address of the contact", { copyOf: "contacts.email" }),
      phone: phone("Phone of the contact", { copyOf: "contacts.phone" })
    }),
    attributions: attributions("opportunity_attributions", "Visits that each deal came from."),
    searchAfter: ignored,
    sort: ignored,
    followers: values("opportunity_followers", "Users who follow each deal.", "user_id", ref("users", "The user")),
    customFields: rows(
      "opportunity_custom_values",
      "Filled custom fields of each deal.",
      {
        id: ref("custom_fields", "The custom field; its key, where that was sent and the field is not known", {
          column: "custom_field_id"
        }),
        key: text("Key of the field, where sent"),
        value: customValue("The value as sent"),
        // The name depends on the type of the value: fieldValueString, fieldValueDate, fieldValueFiles, …
        "fieldValue*": alias("value"),
        type: text("Type of the field, where sent")
      },
      ["custom_field_id"]
    ),
    notes: rows(
      "opportunity_notes",
      "Notes written on deals.",
      {
        id: id("Note id"),
        body: content("The note"),
        userId: ref("users", "Who wrote it"),
        title: text("Title", { personal: "content" }),
        contactId: ref("contacts", "Contact the note is about"),
        color: text("Colour, as a hex code"),
        pinned: boolean("Kept on top"),
        dateAdded: created("When it was written")
      },
      ["id"]
    ),
    tasks: rows(
      "opportunity_tasks",
      "To-dos of deals.",
      {
        id: id("Task id"),
        title: text("What is to be done", { personal: "content" }),
        body: content("The details"),
        dueDate: instant("When it is due"),
        completed: boolean("Whether it is done"),
        assignedTo: text("Who is to do it", { references: "users" }),
        contactId: ref("contacts", "Contact the task is about")
      },
      ["id"]
    ),
    calendarEvents: rows(
      "opportunity_calendar_events",
      "Appointments of deals.",
      {
        id: id("Appointment id"),
        calendarId: ref("calendars", "Its calendar"),
        contactId: ref("contacts", "Whom it is with"),
        title: text("Title", { personal: "content" }),
        appointmentStatus: enumeration(appointmentStatuses),
        assignedUserId: ref("users", "Whom it is booked with"),
        startTime: instant("Begin"),
        endTime: instant("End")
      },
      ["id"]
    ),
    unreadCount: count("Unread messages of the contact")
  }
})

/** Custom values have the id or the key of their field (A 2.6); the key becomes the id until the loader finds the field. */
const withFieldIds = (deal: unknown): unknown => {
  const { customFields } = membersOf(deal)
  if (!Array.isArray(customFields)) return deal
  return {
    ...membersOf(deal),
    customFields: customFields.map((value) =>
      value?.id === undefined && value?.key !== undefined ? { ...value, id: value.key } : value
    )
  }
}
