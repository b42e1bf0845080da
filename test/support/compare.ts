/**
 * Compares the tables with the records of the service, value by value. It uses the naming rules but not the definitions,
 * so that it finds a definition that lacks a field or has a wrong type.
 */
import { DuckDBInstance } from "@duckdb/node-api"
import { closeSync, openSync, statSync } from "node:fs"

type Row = Readonly<Record<string, unknown>>

type Access = "READ_ONLY" | "READ_WRITE"

export const query = (database: string, sql: string, access?: Access): Promise<ReadonlyArray<Row>> =>
  inDatabase(database, (ask) => ask(sql), access)

/** Runs several queries in one opened database, because opening and closing take longer than most queries. */
export const inDatabase = async <A>(
  database: string,
  use: (ask: (sql: string) => Promise<ReadonlyArray<Row>>) => Promise<A>,
  access: Access = "READ_ONLY"
): Promise<A> => {
  const opened = access === "READ_ONLY" ? await toRead(database) : new Opened(await openAs(database, access))
  const connection = await opened.instance.connect()
  try {
    await connection.run("SET TimeZone = 'UTC'")
    return await use(async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson())
  } finally {
    connection.closeSync()
    opened.users--
    opened.closeIfUnused()
  }
}

const openAs = (database: string, access: Access) => DuckDBInstance.create(database, { access_mode: access })

class Opened {
  users = 1
  readonly instance: DuckDBInstance
  constructor(instance: DuckDBInstance) {
    this.instance = instance
  }
  closeIfUnused(): void {
    if (this.users === 0 && this !== last?.opened) this.instance.closeSync()
  }
}

/** The file that was read last stays open: to read what its tables are takes ten times as long as most queries. */
let last: { readonly state: string; readonly opened: Opened } | undefined

/** A file that was changed since is opened again. */
const toRead = async (database: string): Promise<Opened> => {
  const state = [database, `${database}.wal`]
    .map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
    .reduce((text, file) => `${text} ${file?.ino} ${file?.size} ${file?.mtimeNs}`, database)
  if (last?.state === state) {
    last.opened.users++
    return last.opened
  }
  const opened = new Opened(await openAs(database, "READ_ONLY"))
  // A process that closes a handle of a file loses its locks on it, so others can write this one.
  closeSync(openSync(database, "r"))
  closeLast()
  last = { state, opened }
  return opened
}

/** Closes the file that was read last. */
export const closeLast = (): void => {
  const before = last
  last = undefined
  before?.opened.closeIfUnused()
}

/** The differences between a table and the records of the service. */
export const differences = async (
  database: string,
  table: string,
  records: ReadonlyArray<Row>
): Promise<ReadonlyArray<string>> => differing(table, await query(database, `SELECT * FROM crm.${table}`), records)

/** As `differences`, for given rows of a table. */
export const differing = (
  table: string,
  all: ReadonlyArray<Row>,
  records: ReadonlyArray<Row>
): ReadonlyArray<string> => {
  // Records that the service itself flags as deleted may be marked as deleted.
  const deleted = new Set(records.filter(isDeleted).map(({ id, _id }) => id ?? _id))
  const rows = all.filter((row) => row["_deleted_at"] === null || row["deleted"] === true || deleted.has(row["id"]))
  const rowById = new Map(rows.map((row) => [row["id"], row]))
  const ids = records.map((record) => String(record["id"] ?? record["_id"]))
  const known = new Set(ids)
  return [
    ...(rows.length === rowById.size ? [] : [`${table}: ${rows.length - rowById.size} duplicate rows`]),
    ...ids.filter((id) => !rowById.has(id)).map((id) => `${table} ${id}: missing`),
    ...rows
      .filter((row) => !known.has(String(row["id"])))
      .map((row) => `${table} ${String(row["id"])}: not in the service`),
    ...records.flatMap((record, index) => {
      const row = rowById.get(ids[index])
      return row ? [...different(table, record, row), ...kept(table, record, row)] : []
    })
  ]
}

const isDeleted = ({ deleted, status }: Row) => String(deleted) === "true" || status === "deleted"

/** What belongs to the response, what is a copy, and what is secret; `order` is a reserved word. */
const notStored =
  "locationId altId altType traceId category post affiliate questionLowerCase order w9Form callbackUrl".split(" ")

const different = (table: string, record: Row, row: Row): ReadonlyArray<string> => {
  const extra = JSON.parse(String(row["_extra"] ?? "{}")) as Row
  return Object.entries(record).flatMap(([field, sent]) => {
    if (sent === null || notStored.includes(field)) return []
    // Columns of ids end in _id, and no column has a reserved word as its name.
    const name = field === "_id" ? "id" : snakeCase(field)
    const names = typeof sent === "object" ? [] : [`${name}_id`, `${name}_address`]
    const column = [name, ...names].find((column) => column in row) ?? name
    // Lists and objects have their own tables and columns, which other tests cover.
    if (!(column in row))
      return typeof sent === "object" || field in extra ? [] : [`${table} ${String(row["id"])}.${field}: nowhere`]
    return same(...besideObject(row, column, sent))
      ? []
      : [`${table} ${String(row["id"])}.${field}: ${JSON.stringify(sent)} became ${JSON.stringify(row[column])}`]
  })
}

/** The columns that have a value although the record of the service has none. */
const kept = (table: string, record: Row, row: Row): ReadonlyArray<string> => {
  const isSent = columnsSent(record)
  return Object.entries(row)
    .filter(([column, value]) => value !== null && !column.startsWith("_") && column !== "location_id")
    .filter(([column]) => !isSent(column) && !otherSources[table]?.test(column))
    .map(
      ([column, value]) =>
        `${table} ${String(row["id"])}.${column}: ${JSON.stringify(value)} has no value in the service`
    )
}

/** Whether a column belongs to a field with a value, or to a field inside an object. */
const columnsSent = (record: Row) => {
  const names = new Set<string>()
  const prefixes: Array<string> = []
  for (const [field, value] of Object.entries(record)) {
    if (value === null) continue
    const name = field === "_id" ? "id" : snakeCase(field)
    names.add(name)
    if (typeof value === "object") prefixes.push(`${name}_`)
  }
  return (column: string) =>
    names.has(column) ||
    names.has(column.replace(/_(?:id|address|enabled)$/, "")) ||
    prefixes.some((prefix) => column.startsWith(prefix))
}

/** Columns that another request fills, or a field inside an object with another name. */
const otherSources: Readonly<Record<string, RegExp>> = {
  users: /^deleted$/,
  opportunities: /^effective_probability$/,
  conversations: /^(full_name|contact_name|phone)$/,
  messages: /^call_(duration_seconds|status)$/,
  orders: /^(subtotal|discount)$/,
  form_submissions: /^(event_|field_order$)/,
  survey_submissions: /^(event_|field_order$)/,
  email_templates: /^(type|preview_url|archived|body)$/,
  email_campaigns: /^body$/,
  invoice_settings: /^settings_id$/,
  order_fulfillments: /^order_id$/,
  subscriptions: /^payments_collected_count$/,
  social_posts: /^deleted$/,
  lost_reasons: /^deleted$/,
  appointment_notes: /^appointment_id$/,
  social_queue_items: /^(queue_id|sort_order)$/,
  media_files: /^type$/,
  bulk_email_campaigns: /^(subject|from_name)$/,
  documents: /^(payment_)?status(es)?$/,
  blog_posts: /^blog_id$/
}

/** If either an object or a plain value may be sent, each of them has its own column. */
const besideObject = (row: Row, column: string, sent: unknown): readonly [unknown, unknown] => {
  if (typeof sent === "object") {
    const details = row[`${column}_details`]
    return details === undefined ? [sent, row[column]] : [{ ...sent, type: row[column] }, details]
  }
  const plain = [`${column}_id`, `${column}_enabled`].find((name) => name in row)
  return [sent, row[column] === null && plain !== undefined ? row[plain] : row[column]]
}

/** Whether the values are equal: instants in any notation, numbers by value, JSON by structure, texts exactly. */
const same = (sent: unknown, stored: unknown): boolean => {
  // Of a list of states, the last one is the state.
  if (Array.isArray(sent) && sent.at(-1) === stored) return true
  if (typeof sent === "object") return JSON.stringify(sent) === JSON.stringify(JSON.parse(String(stored)))
  if (stored === null) return sent === ""
  if (typeof stored === "boolean") return String(sent) === String(stored)
  if (String(sent) === String(stored)) return true
  if (/^\d{4}-\d\d-\d\d \d\d:\d\d/.test(String(stored)))
    return instant(sent) === Date.parse(String(stored).replace(" ", "T").replace(/\+00$/, "Z"))
  if (/^\d{4}-\d\d-\d\d$/.test(String(stored))) return day(String(sent)) === stored
  return Number(sent) === Number(stored)
}

const instant = (sent: unknown) => (/^\d+$/.test(String(sent)) ? Number(sent) : Date.parse(String(sent)))
const day = (sent: string) => {
  const [, a, b, c] = /^(\d+)\D(\d+)\D(\d+)/.exec(sent) ?? []
  return a?.length === 4 ? `${a}-${b}-${c}` : `${c}-${a}-${b}`
}

const snakeCases = new Map<string, string>()
/** Remembers each name: the records of an account repeat a few hundred of them a million times. */
const snakeCase = (name: string): string => {
  const known = snakeCases.get(name)
  if (known !== undefined) return known
  const made = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
  snakeCases.set(name, made)
  return made
}

/** The tables of document 2, by collections in the form with all fields that are read. */
export const commerceTables = {
  email_templates: "email_templates",
  email_campaigns: "email_campaigns",
  products: "products",
  prices: "prices",
  inventory: "inventory",
  collections: "collections",
  invoices: "invoices",
  estimates: "estimates",
  estimate_templates: "estimate_templates",
  order_fulfillments: "order_fulfillments",
  "transactions?form=list": "transactions",
  subscriptions: "subscriptions",
  coupons: "coupons",
  social_accounts: "social_accounts",
  social_posts: "social_posts",
  social_categories: "social_categories",
  social_tags: "social_tags",
  blogs: "blogs",
  blog_posts: "blog_posts",
  blog_authors: "blog_authors",
  blog_categories: "blog_categories",
  funnels: "funnels",
  funnel_pages: "funnel_pages",
  redirects: "redirects",
  forms: "forms",
  surveys: "surveys"
} as const

/** The tables of document 3, by collections. */
export const furtherTables = {
  lost_reasons: "lost_reasons",
  businesses: "businesses",
  objects: "objects",
  "object_records?form=list": "object_records",
  associations: "associations",
  "workflow_campaigns?form=list": "workflow_campaigns",
  "bulk_email_campaigns?form=list": "bulk_email_campaigns",
  documents: "documents",
  document_templates: "document_templates",
  voice_calls: "voice_calls",
  voice_agents: "voice_agents",
  location_tags: "location_tags",
  custom_values: "custom_values",
  calendar_groups: "calendar_groups",
  services: "services",
  service_locations: "service_locations",
  invoice_schedules: "invoice_schedules",
  invoice_templates: "invoice_templates",
  product_reviews: "product_reviews",
  shipping_zones: "shipping_zones",
  shipping_carriers: "shipping_carriers",
  store_settings: "store_settings",
  affiliates: "affiliates",
  affiliate_commissions: "affiliate_commissions",
  affiliate_payouts: "affiliate_payouts",
  number_pools: "number_pools",
  trigger_links: "trigger_links",
  media_files: "media_files",
  campaigns: "campaigns",
  social_category_queues: "social_category_queues",
  conversation_agents: "conversation_agents",
  knowledge_bases: "knowledge_bases"
} as const

/** The table for each collection of the sandbox. */
export const tableByCollection = {
  locations: "locations",
  users: "users",
  tasks: "tasks",
  contacts: "contacts",
  notes: "contact_notes",
  pipelines: "pipelines",
  opportunities: "opportunities",
  conversations: "conversations",
  messages: "messages",
  orders: "orders",
  submissions: "form_submissions",
  customFields: "custom_fields",
  workflows: "workflows",
  calendars: "calendars",
  appointments: "appointments",
  emails: "emails",
  ...commerceTables,
  ...furtherTables,
  survey_submissions: "survey_submissions"
} as const

/** The resources that the service has no collection of, by the tests that compare their tables instead. */
export const comparedElsewhere: Readonly<Record<string, string>> = {
  files: "test/sync/file-truth.test.ts",
  location_timezones: "test/pipelines/core.test.ts",
  messaging_providers: "test/pipelines/core.test.ts",
  object_fields: "test/pipelines/core.test.ts",
  object_folders: "test/pipelines/core.test.ts",
  recurring_tasks: "test/pipelines/core.test.ts",
  saved_templates: "test/pipelines/core.test.ts",
  free_slots: "test/pipelines/core.test.ts",
  recordings: "test/pipelines/core.test.ts",
  transcript_sentences: "test/pipelines/core.test.ts",
  email_template_folders: "test/pipelines/commerce.test.ts",
  invoice_settings: "test/pipelines/commerce.test.ts",
  order_notes: "test/pipelines/commerce.test.ts",
  ...Object.fromEntries(
    [
      "record_relations",
      "email_campaign_statistics",
      "workflow_campaign_statistics",
      "bulk_email_campaign_statistics",
      "blocked_slots",
      "appointment_notes",
      "calendar_resources",
      "service_bookings",
      "schedules",
      "phone_numbers",
      "social_queue_items",
      "conversation_agent_actions",
      "knowledge_base_faqs",
      "knowledge_base_pages"
    ].map((table) => [table, "test/pipelines/further.test.ts"])
  )
}
