/**
 * Some of the real definitions, one for each way of reading, with small pages and few columns: the simulation tests how
 * records are read and stored, not how their fields are converted.
 */
import type { Catalogue } from "../../src/catalog/discover.ts"
import { type Field, type Fields, ignored } from "../../src/catalog/fields.ts"
import type { ChildOf, Resource, Strategy } from "../../src/catalog/resource.ts"
import { files } from "../../pipelines/account/files.ts"
import { customFields } from "../../pipelines/account/custom_fields.ts"
import { locations } from "../../pipelines/account/locations.ts"
import { users } from "../../pipelines/account/users.ts"
import { blogPosts } from "../../pipelines/blogs/blog_posts.ts"
import { blogs } from "../../pipelines/blogs/blogs.ts"
import { appointments } from "../../pipelines/calendars/appointments.ts"
import { calendars } from "../../pipelines/calendars/calendars.ts"
import { conversations } from "../../pipelines/conversations/conversations.ts"
import { messages } from "../../pipelines/conversations/messages.ts"
import { contactNotes } from "../../pipelines/crm/contact_notes.ts"
import { contacts } from "../../pipelines/crm/contacts.ts"
import { opportunities } from "../../pipelines/crm/opportunities.ts"
import { pipelines } from "../../pipelines/crm/pipelines.ts"
import { tasks } from "../../pipelines/crm/tasks.ts"
import { formSubmissions } from "../../pipelines/forms/form_submissions.ts"
import { redirects } from "../../pipelines/funnels/redirects.ts"
import { invoices } from "../../pipelines/invoices/invoices.ts"
import { coupons } from "../../pipelines/payments/coupons.ts"
import { orders } from "../../pipelines/payments/orders.ts"
import { prices } from "../../pipelines/products/prices.ts"
import { products } from "../../pipelines/products/products.ts"

export interface Simulated {
  /** The collection of the service that the table has to equal. */
  readonly collection: string
  readonly resource: Resource
  /**
   * What a sync that is not full finds, as the documents of the API have it: everything, because the whole list is read;
   * what was added or changed, by its date; or what depends on the parent or on the time since.
   */
  readonly finds: "everything" | "dated" | "some"
}

const simulated = (collection: string, resource: Resource, finds: Simulated["finds"]): Simulated => ({
  collection,
  resource,
  finds
})

export const allSimulated: ReadonlyArray<Simulated> = [
  simulated("locations", locations, "everything"), // all at once
  simulated("users", users, "everything"), // offset and detail
  simulated("customFields", customFields, "everything"),
  simulated("calendars", calendars, "everything"),
  simulated("pipelines", pipelines, "everything"),
  simulated("contacts", contacts, "dated"), // cursor in the last record
  simulated("notes", contactNotes, "some"), // one request for each parent
  simulated("tasks", tasks, "everything"), // offset in two partitions
  simulated("opportunities", opportunities, "dated"), // cursor with two parts
  simulated("conversations", conversations, "dated"), // sort value
  simulated("messages", messages, "some"), // expiring cursor
  simulated("orders", orders, "everything"), // offset and detail
  simulated("submissions", formSubmissions, "some"), // page number in windows
  simulated("appointments", appointments, "some"), // windows for each parent
  simulated("products", products, "everything"),
  simulated("prices", prices, "some"), // pages for each parent
  simulated("blogs", blogs, "everything"),
  simulated("blog_posts", blogPosts, "some"),
  simulated("redirects", redirects, "everything"), // no record can be asked for
  simulated("coupons", coupons, "everything"), // asked for by another column
  simulated("invoices", invoices, "everything") // offset and detail
]

export const collections = allSimulated.map(({ collection }) => collection)
const byCollection = new Map(allSimulated.map((one) => [one.collection, one]))
export const simulatedOf = (collection: string): Simulated => byCollection.get(collection)!
export const tableOf = (collection: string): string => simulatedOf(collection).resource.table
export const tablesOf = (world: { readonly collections: ReadonlyArray<string> }): ReadonlySet<string> =>
  new Set(world.collections.map(tableOf))

/** The collections and those that they need, in the order above. */
export const withParents = (chosen: Iterable<string>): ReadonlyArray<Simulated> => {
  const tables = new Set([...chosen].map(tableOf))
  for (const { resource } of allSimulated.toReversed())
    if (tables.has(resource.table))
      for (const needed of [resource.childOf, resource.cascadesFrom]) if (needed) tables.add(needed.table)
  return allSimulated.filter(({ resource }) => tables.has(resource.table))
}

/** The definitions of these tables. `pageSize` applies to strategies with pages. */
export const smallCatalogue = (chosen: Iterable<string>, pageSize: number, hasFiles: boolean): Catalogue => {
  const lists = withParents(chosen).map(({ resource }) => small(resource, pageSize))
  const resources = hasFiles ? [...lists, files] : lists
  return { resources, familyByTable: new Map(resources.map(({ table }) => [table, "simulated"])) }
}

const small = (definition: Resource, pageSize: number): Resource => {
  const paged = (strategy: Strategy): Strategy => {
    const { paging, trialPageSize: __, windows, ...rest } = strategy
    // The export accepts no page size below ten.
    const size = paging.kind === "expiring" ? Math.max(10, pageSize) : pageSize
    if (paging.kind === "once") return windows ? { ...strategy, pageSize: Math.max(4, size) } : strategy
    return { ...rest, paging, pageSize: size, ...(windows && { windows }) }
  }
  const withSmallPages = (one: ChildOf): ChildOf => ({
    ...one,
    strategy: paged(one.strategy),
    ...(one.incremental && { incremental: { ...one.incremental, strategy: paged(one.incremental.strategy) } })
  })
  const fields = withFewColumns(definition.fields)
  if (definition.kind === "embedded" || definition.kind === "files") return { ...definition, fields }
  if (definition.kind === "child") return { ...definition, fields, childOf: withSmallPages(definition.childOf) }
  const { wide: _, ...resource } = definition
  const { changes, detail, childOf, full } = resource
  return {
    ...resource,
    full: full.map(paged),
    fields,
    ...(changes && {
      changes: {
        ...changes,
        ...(changes.newest && { newest: paged(changes.newest) }),
        strategies: changes.strategies.map(paged),
        ...(changes.added && { added: changes.added.map(paged) })
      }
    }),
    ...(childOf && { childOf: withSmallPages(childOf) }),
    ...(detail && { detail: { ...detail, fields: withFewColumns(detail.fields) } })
  }
}

/** Keeps few columns, because each costs time in the database with every page. */
const withFewColumns = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, isKept(name, field) ? field : ignored]))

const isKept = (name: string, field: Field): boolean =>
  ((field.kind === "column" || name === "tags") &&
    (kept.has(name) || ("column" in field && field.column === "location_id"))) ||
  (field.kind === "alias" && kept.has(field.of))
const kept = new Set(
  (
    "id _id companyId name title body status source type code completed deleted contactId conversationId pipelineId calendarId product tags " +
    "formId amount monetaryValue trackingId dateAdded dateUpdated createdAt updatedAt lastMessageDate lastMessageType startTime image"
  ).split(" ")
)
