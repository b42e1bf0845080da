/** The read operations of the documents that no table is made from, each with the reason. */
import type { Covered } from "./coverage.ts"

type NotExtracted = readonly [purpose: Exclude<Covered["purpose"], "tables">, operation: string, reason: string]

const getOne = "the list shows the same record"

export const notExtracted: ReadonlyArray<NotExtracted> = [
  ["not data", "GET /contacts/lookup", "finds one contact by address or phone"],
  ["not data", "GET /contacts/search/duplicate", "says which contact a new one would repeat"],
  ["not data", "GET /contacts/{contactId}/notes/{id}", getOne],
  [
    "not data",
    "GET /contacts/{contactId}/tasks",
    "the task search of the location shows the same tasks, a hundred at once"
  ],
  [
    "check",
    "GET /locations/{locationId}/customFields/{id}",
    "the list shows the same record; read to confirm that a field is gone"
  ],
  ["not data", "GET /custom-fields/{id}", getOne],
  ["not data", "GET /opportunities/pipelines/{pipelineId}", getOne],
  [
    "check",
    "GET /opportunities/{id}",
    "the search shows more, notes and tasks among it; read to confirm that a deal is gone"
  ],
  ["not data", "GET /locations/search", "lists locations of an agency; each location is read with its own token"],
  ["check", "GET /calendars/{calendarId}", "the list shows the same record; read to confirm that a calendar is gone"],
  [
    "check",
    "GET /calendars/events/appointments/{eventId}",
    "the list shows the same record; read to confirm that it is gone"
  ],
  [
    "check",
    "GET /conversations/{conversationId}",
    "the search shows more; read to confirm that a conversation is gone"
  ],
  [
    "check",
    "GET /conversations/messages/{messageId}",
    "the export shows the same record; `verify --sample` compares with it"
  ],
  [
    "not data",
    "GET /conversations/locations/{locationId}/messages/{messageId}/transcription/download",
    "the same sentences as a text without times and speakers"
  ],
  ["check", "GET /products/{productId}", "the list shows the same record; read to confirm that a product is gone"],
  ["not data", "GET /products/{productId}/price/{priceId}", getOne],
  ["not data", "GET /invoices/generate-invoice-number", "gives out a new number"],
  ["not data", "GET /invoices/estimate/number/generate", "gives out a new number"],
  ["not data", "GET /invoices/estimate/template/preview", "a page for people, made of the template"],
  [
    "check",
    "GET /payments/transactions/{transactionId}",
    "the list shows the same record; read to confirm that it is gone"
  ],
  ["not data", "GET /payments/coupon", getOne],
  [
    "check",
    "GET /social-media-posting/{locationId}/posts/{postId}",
    "the list shows the same record; read to confirm that it is gone"
  ],
  ["not data", "GET /blogs/posts/url-slug-exists", "says whether an address is taken"],
  ["not data", "GET /funnels/page/count", "the pages themselves are listed, to the last one"],
  [
    "not documented",
    "tags of a location",
    "scope locations/tags.readonly; the path is not shown. contact_tags holds every tag in use"
  ],
  ["not documented", "custom values of a location", "scope locations/customValues.readonly; the path is not shown"],
  ["not documented", "campaigns of contacts", "scope campaigns.readonly; the path is not shown"],
  ["not documented", "reasons for lost deals", "named by lostReasonId; no operation is shown"],
  ["not documented", "GET /invoices/template", "invoice templates: the list is described, its path is not shown"],
  ["not documented", "recurring invoice schedules", "scope invoices/schedule.readonly; no operation is shown"],
  ["not documented", "statistics of email campaigns", "scope emails/stats.readonly; no operation is shown"],
  ["not documented", "product reviews and online store visibility", "scope products.readonly; no operation is shown"]
]
