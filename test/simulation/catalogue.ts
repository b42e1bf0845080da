/**
 * Some of the real definitions, one for each kind of paging, with small pages and withFewColumns columns: the simulation tests how
 * records are read, not how their fields are stored.
 */
import type { Catalogue } from "../../src/catalog/discover.ts"
import { type Field, type Fields, ignored } from "../../src/catalog/fields.ts"
import type { ChildOf, Resource, Strategy } from "../../src/catalog/resource.ts"
import { locations } from "../../pipelines/account/locations.ts"
import { users } from "../../pipelines/account/users.ts"
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
import { orders } from "../../pipelines/payments/orders.ts"

/** The definitions, each with the collection of the service that its table has to equal. */
const chosen: ReadonlyArray<readonly [collection: string, Resource]> = [
  ["locations", locations], // all at once
  ["users", users],
  ["calendars", calendars],
  ["pipelines", pipelines],
  ["contacts", contacts], // cursor in the last record
  ["notes", contactNotes], // one request for each parent
  ["tasks", tasks], // offset in two partitions
  ["opportunities", opportunities], // cursor with two parts
  ["conversations", conversations], // sort value
  ["messages", messages], // expiring cursor
  ["orders", orders], // offset and detail
  ["submissions", formSubmissions], // page number in windows
  ["appointments", appointments] // windows for each parent
]

export const tableOf: ReadonlyMap<string, string> = new Map(
  chosen.map(([collection, { table }]) => [collection, table])
)

/**
 * The definitions of the collections and of their parents. `pageSize` applies to strategies with pages.
 */
export const smallCatalogue = (collections: ReadonlyArray<string>, pageSize: number): Catalogue => {
  const tables = new Set(collections.map((collection) => tableOf.get(collection)!))
  for (const [, { table, childOf, cascadesFrom }] of chosen.toReversed())
    if (tables.has(table)) for (const needed of [childOf, cascadesFrom]) if (needed) tables.add(needed.table)
  const resources = chosen.filter(([, { table }]) => tables.has(table)).map(([, resource]) => small(resource, pageSize))
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
        strategies: changes.strategies.map(paged),
        ...(changes.added && { added: changes.added.map(paged) })
      }
    }),
    ...(childOf && { childOf: withSmallPages(childOf) }),
    ...(detail && { detail: { ...detail, fields: withFewColumns(detail.fields) } })
  }
}

/** Keeps withFewColumns columns, because each costs time in the database with every page. */
const withFewColumns = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, isKept(name, field) ? field : ignored]))

const isKept = (name: string, field: Field): boolean =>
  (field.kind === "column" && (kept.has(name) || field.column === "location_id")) ||
  (field.kind === "alias" && kept.has(field.of))
const kept = new Set(
  (
    "id _id companyId name title body status source type completed deleted contactId conversationId pipelineId calendarId " +
    "formId amount monetaryValue trackingId dateAdded dateUpdated createdAt updatedAt lastMessageDate lastMessageType startTime"
  ).split(" ")
)
