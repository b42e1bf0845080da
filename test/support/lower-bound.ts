/**
 * The fewest requests that a full read can take, from the records of the service and the documented page sizes: a list of
 * n records takes n / page size, and children one request for each parent.
 */
import type { Service } from "./service.ts"

export interface Bound {
  readonly resource: string
  readonly records: number
  readonly operation: string
  readonly requests: number
}

/** Undocumented page sizes are 100; the export has 1,000 messages on a page, and separate pages for emails. */
export const lowerBound = async (service: Service): Promise<ReadonlyArray<Bound>> => {
  const counts = new Map<string, number>()
  const count = async (collection: string, is: (record: Record<string, unknown>) => boolean = () => true) => {
    const key = `${collection}${is}`
    if (!counts.has(key)) counts.set(key, (await service.records(collection)).filter(is).length)
    return counts.get(key)!
  }
  const list = async (resource: string, operation: string, page: number, collection = resource) => {
    const records = await count(collection)
    return { resource, records, operation, requests: Math.max(1, Math.ceil(records / page)) }
  }
  const once = async (resource: string, operation: string, collection = resource, requests = 1) => ({
    resource,
    records: await count(collection),
    operation,
    requests
  })
  /** One request for each record of the collection. */
  const childOf = async (resource: string, operation: string, ...rows: Parameters<typeof count>) => {
    const records = await count(...rows)
    return { resource, records, operation, requests: records }
  }
  const messages = await service.records("messages")
  const type = ({ messageType }: Record<string, unknown>) => String(messageType)
  const exported = messages.filter((message) => !unexported.has(type(message)))
  const emails = exported.filter((message) => type(message) === "TYPE_EMAIL").length
  const withoutRecording = ["pending", "busy", "no-answer", "failed", "canceled"]
  const hasRecording = (message: Record<string, unknown>) =>
    ["TYPE_CALL", "TYPE_CAMPAIGN_VOICEMAIL"].includes(type(message)) &&
    !withoutRecording.includes(String((message["meta"] as Record<string, unknown>)?.["callStatus"]))
  const isReadSeparately = ({ type: kind, lastMessageType }: Record<string, unknown>) =>
    ["4", "5"].includes(String(kind)) || unexported.has(String(lastMessageType))

  return Promise.all([
    once("locations", "GET /locations/:locationId"),
    list("users", "GET /users/search", 100),
    childOf("users", "GET /users/:userId", "users"),
    once("custom_fields", "GET /locations/:locationId/customFields", "customFields"),
    list("contacts", "POST /contacts/search", 500),
    childOf("contact_notes", "GET /contacts/:contactId/notes", "contacts"),
    once("pipelines", "GET /opportunities/pipelines"),
    list("opportunities", "GET /opportunities/search", 100),
    once("workflows", "GET /workflows/"),
    once("calendars", "GET /calendars/"),
    childOf("appointments", "GET /calendars/events", "calendars"),
    list("conversations", "GET /conversations/search", 100),
    {
      resource: "messages",
      records: exported.length,
      operation: "GET /conversations/messages/export",
      requests: Math.ceil(emails / 1000) + Math.ceil((exported.length - emails) / 1000)
    },
    childOf("messages", "GET /conversations/:conversationId/messages", "conversations", isReadSeparately),
    childOf("emails", "GET /conversations/messages/email/:emailMessageId", "emails"),
    childOf(
      "transcript_sentences",
      "GET /conversations/locations/:locationId/messages/:messageId/transcription",
      "messages",
      hasRecording
    ),
    childOf(
      "recordings",
      "GET /conversations/messages/:messageId/locations/:locationId/recording",
      "messages",
      hasRecording
    ),
    childOf("email_templates", "GET /emails/locations/:locationId/templates/:templateId", "email_templates"),
    list("email_campaigns", "GET /emails/locations/:locationId/campaigns/emails", 20),
    childOf("email_campaigns", "GET /emails/locations/:locationId/campaigns/emails/:campaignId", "email_campaigns"),
    list("products", "GET /products/", 100),
    childOf("prices", "GET /products/:productId/price", "products"),
    list("inventory", "GET /products/inventory", 100),
    list("collections", "GET /products/collections", 100),
    list("invoices", "GET /invoices/", 100),
    childOf("invoices", "GET /invoices/:invoiceId", "invoices"),
    once("invoice_settings", "GET /invoices/settings"),
    list("estimates", "GET /invoices/estimate/list", 100),
    list("estimate_templates", "GET /invoices/estimate/template", 100),
    list("orders", "GET /payments/orders", 100),
    childOf("orders", "GET /payments/orders/:orderId", "orders"),
    childOf("order_fulfillments", "GET /payments/orders/:orderId/fulfillments", "orders"),
    childOf("order_notes", "GET /payments/orders/:orderId/notes", "orders"),
    list("transactions", "GET /payments/transactions", 100),
    list("subscriptions", "GET /payments/subscriptions", 100),
    childOf("subscriptions", "GET /payments/subscriptions/:subscriptionId", "subscriptions"),
    list("coupons", "GET /payments/coupon/list", 100),
    once("social_accounts", "GET /social-media-posting/:locationId/accounts"),
    list("social_categories", "GET /social-media-posting/:locationId/categories", 100),
    list("social_tags", "GET /social-media-posting/:locationId/tags", 100),
    list("blogs", "GET /blogs/site/all", 100),
    childOf("blog_posts", "GET /blogs/posts/all", "blogs"),
    list("blog_authors", "GET /blogs/authors", 100),
    list("blog_categories", "GET /blogs/categories", 100),
    list("funnels", "GET /funnels/funnel/list", 100),
    childOf("funnel_pages", "GET /funnels/page", "funnels"),
    list("redirects", "GET /funnels/lookup/redirect/list", 100),
    list("forms", "GET /forms/", 50),
    list("surveys", "GET /surveys/", 50),
    list("form_submissions", "GET /forms/submissions", 100, "submissions"),
    list("survey_submissions", "GET /surveys/submissions", 100)
  ])
}

/** Types that the export leaves out (A 4.9). */
const unexported = new Set(["TYPE_GROUP_SMS", "TYPE_SMS_REVIEW_REQUEST"])
