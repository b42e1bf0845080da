/** Operations that read one record by itself, for the tables that have one. Paths as in the API's documents. */
import type { BoundRequest } from "../catalog/request.ts"

export interface Single {
  /** `{column}` is filled with the row's value; `{location_id}` is the location. */
  readonly path: string
  readonly parameters?: Readonly<Record<string, string>>
  /** Dotted path of the record in the body; `""`: the body itself. */
  readonly record: string
  /** Columns that a single read is documented to show in another way than the list. */
  readonly except?: ReadonlyArray<string>
}

const account = { altId: "{location_id}", altType: "location" }
const location = { locationId: "{location_id}" }

export const singles: Readonly<Record<string, Single>> = {
  contacts: { path: "/contacts/{id}", record: "contact" },
  contact_notes: { path: "/contacts/{contact_id}/notes/{id}", record: "note" },
  opportunities: { path: "/opportunities/{id}", record: "opportunity" },
  users: { path: "/users/{id}", record: "" },
  custom_fields: { path: "/locations/{location_id}/customFields/{id}", record: "customField" },
  locations: { path: "/locations/{id}", record: "location" },
  recurring_tasks: { path: "/locations/{location_id}/recurring-tasks/{id}", record: "recurringTask" },
  calendars: { path: "/calendars/{id}", record: "calendar" },
  appointments: { path: "/calendars/events/appointments/{id}", record: "event" },
  // A word in the list, a number by itself (A 2.12).
  conversations: { path: "/conversations/{id}", record: "", except: ["type"] },
  messages: { path: "/conversations/messages/{id}", record: "" },
  emails: { path: "/conversations/messages/email/{id}", record: "" },
  email_templates: { path: "/emails/locations/{location_id}/templates/{id}", record: "" },
  email_campaigns: { path: "/emails/locations/{location_id}/campaigns/emails/{id}", record: "" },
  products: { path: "/products/{id}", parameters: location, record: "" },
  prices: { path: "/products/{product_id}/price/{id}", parameters: location, record: "" },
  invoices: { path: "/invoices/{id}", parameters: account, record: "" },
  orders: { path: "/payments/orders/{id}", parameters: account, record: "" },
  transactions: { path: "/payments/transactions/{id}", parameters: account, record: "" },
  subscriptions: { path: "/payments/subscriptions/{id}", parameters: account, record: "" },
  coupons: { path: "/payments/coupon", parameters: { ...account, id: "{id}", code: "{code}" }, record: "" },
  social_posts: { path: "/social-media-posting/{location_id}/posts/{id}", record: "results.post" }
}

/** The request for one row. */
export const requestFor = (getOne: Single, row: Readonly<Record<string, unknown>>): BoundRequest => {
  const filled = (template: string, form: (value: string) => string) =>
    template.replaceAll(/\{(\w+)\}/g, (_, column: string) => form(String(row[column] ?? "")))
  const parameters = Object.entries(getOne.parameters ?? {})
  return {
    method: "GET",
    path: filled(getOne.path, encodeURIComponent),
    parameters: Object.fromEntries(parameters.map(([name, value]) => [name, filled(value, (text) => text)]))
  }
}
