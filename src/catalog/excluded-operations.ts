/** The read operations of the API documents that no definition requests, each with the reason. */

/** What a read operation of the API is used for. */
export type Purpose = "tables" | "check" | "not data" | "not documented"

type NotExtracted = readonly [purpose: Exclude<Purpose, "tables">, operation: string, reason: string]

const sameAsListed = "the list shows the same record"

export const notExtracted: ReadonlyArray<NotExtracted> = [
  ["not data", "GET /contacts/lookup", "finds one contact by address or phone"],
  ["not data", "GET /contacts/search/duplicate", "says which contact a new one would repeat"],
  [
    "not data",
    "GET /contacts/{contactId}/tasks",
    "the task search of the location shows the same tasks, a hundred at once"
  ],
  ["not data", "GET /custom-fields/{id}", sameAsListed],
  ["not data", "GET /opportunities/pipelines/{pipelineId}", sameAsListed],
  ["not data", "GET /locations/search", "lists locations of an agency; each location is read with its own token"],
  [
    "not data",
    "GET /conversations/locations/{locationId}/messages/{messageId}/transcription/download",
    "the same sentences as a text without times and speakers"
  ],
  ["not data", "GET /invoices/generate-invoice-number", "gives out a new number"],
  ["not data", "GET /invoices/estimate/number/generate", "gives out a new number"],
  ["not data", "GET /invoices/estimate/template/preview", "a page for people, made of the template"],
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
