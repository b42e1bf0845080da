/**
 * The lists and single reads of the simulated tables, as the API documents have them (A 4, B 4). Nothing here comes from
 * our definitions, so that a mistake in one of them is not repeated.
 */
export interface Route {
  readonly collection: string
  /** A list of the location, the children of one parent, or a single record. */
  readonly kind: "list" | "children" | "record"
  readonly method: "GET" | "POST"
  readonly pattern: RegExp
  /** Path of the records in the response. */
  readonly records: string
  /** Whether the path names a record besides the location. */
  readonly namesRecord: boolean
}

const route = (collection: string, kind: Route["kind"], operation: string, records: string): Route => {
  const [method, path] = operation.split(" ") as ["GET" | "POST", string]
  const namesRecord = /\/:id/.test(path.replace("/locations/:id", ""))
  return {
    collection,
    kind,
    method,
    namesRecord,
    pattern: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`),
    records
  }
}

export const routes: ReadonlyArray<Route> = [
  route("users", "list", "GET /users/search", "users"),
  route("customFields", "list", "GET /locations/:id/customFields", "customFields"),
  route("calendars", "list", "GET /calendars/", "calendars"),
  route("pipelines", "list", "GET /opportunities/pipelines", "pipelines"),
  route("contacts", "list", "POST /contacts/search", "contacts"),
  route("tasks", "list", "POST /locations/:id/tasks/search", "tasks"),
  route("opportunities", "list", "GET /opportunities/search", "opportunities"),
  route("opportunities", "list", "POST /opportunities/search", "opportunities"),
  route("conversations", "list", "GET /conversations/search", "conversations"),
  route("messages", "list", "GET /conversations/messages/export", "messages"),
  route("orders", "list", "GET /payments/orders", "data"),
  route("submissions", "list", "GET /forms/submissions", "submissions"),
  route("products", "list", "GET /products/", "products"),
  route("redirects", "list", "GET /funnels/lookup/redirect/list", "data"),
  route("coupons", "list", "GET /payments/coupon/list", "data"),
  route("invoices", "list", "GET /invoices/", "invoices"),
  route("blogs", "list", "GET /blogs/site/all", "data"),
  route("notes", "children", "GET /contacts/:id/notes", "notes"),
  route("messages", "children", "GET /conversations/:id/messages", "messages.messages"),
  route("prices", "children", "GET /products/:id/price", "prices"),
  route("blog_posts", "children", "GET /blogs/posts/all", "blogs"),
  route("appointments", "children", "GET /calendars/events", "events"),
  route("users", "record", "GET /users/:id", ""),
  route("contacts", "record", "GET /contacts/:id", "contact"),
  route("notes", "record", "GET /contacts/:id/notes/:id", "note"),
  route("opportunities", "record", "GET /opportunities/:id", "opportunity"),
  route("conversations", "record", "GET /conversations/:id", ""),
  route("messages", "record", "GET /conversations/messages/:id", ""),
  route("orders", "record", "GET /payments/orders/:id", ""),
  route("products", "record", "GET /products/:id", ""),
  route("prices", "record", "GET /products/:id/price/:id", ""),
  route("coupons", "record", "GET /payments/coupon", ""),
  route("invoices", "record", "GET /invoices/:id", ""),
  route("calendars", "record", "GET /calendars/:id", "calendar"),
  route("customFields", "record", "GET /locations/:id/customFields/:id", "customField"),
  route("appointments", "record", "GET /calendars/events/appointments/:id", "event")
]

/** The first that fits: a literal segment stands before a parameter in the list above. */
export const routeOf = (method: string, path: string): Route | undefined => {
  const [plain] = path.split("?")
  return routes.find((one) => one.method === method && one.pattern.test(plain!))
}
