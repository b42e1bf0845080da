/** What happens in an account between two runs: changes of exactly one kind, made as the service itself would make them. */
import { iso } from "../../sandbox/account/clock.ts"
import { type Collection, type Data, type Entry, entry } from "../../sandbox/account/collection.ts"
import { createContact, deleteContact, updateContact } from "../../sandbox/families/contacts/contacts.ts"
import { addNote } from "../../sandbox/families/contacts/notes.ts"
import { addMessage } from "../../sandbox/families/conversations/messages.ts"
import { createOpportunity, updateOpportunity } from "../../sandbox/families/opportunities/opportunities.ts"
import { changeRecord } from "../../sandbox/families/records.ts"
import type { Service } from "../../sandbox/service.ts"
import type { World as Collections } from "../../sandbox/world.ts"

export interface Change {
  /**
   * `restore`: what was deleted last is there again, as it was. `spoil`: a value that fits no column. `stray`: a copy without
   * an id, which only lists show. `odd`: a copy with an id that is no plain name. `picture`: the record leads to another file.
   */
  readonly what: "add" | "edit" | "delete" | "restore" | "spoil" | "stray" | "odd" | "picture"
  readonly collection: string
  readonly count: number
}

/** A field of each collection that is stored, and what a user may write into it. */
const editable: Readonly<Record<string, readonly [field: string, ...values: ReadonlyArray<string | number>]>> = {
  locations: ["name", "A new name", "Another name"],
  users: ["name", "Grace Hopper", "Alan Turing"],
  customFields: ["name", "Gate", "Fence"],
  calendars: ["name", "Visit", "Call"],
  pipelines: ["name", "Sales", "Service"],
  contacts: ["source", "web", "shop"],
  notes: ["body", "Called back.", "Wrote back."],
  tasks: ["title", "Call", "Write"],
  opportunities: ["monetaryValue", 12.5, 990],
  messages: ["status", "read", "failed"],
  orders: ["status", "completed", "pending"],
  products: ["name", "Board", "Plank"],
  prices: ["name", "Yearly", "Monthly"],
  blogs: ["name", "News", "Notes"],
  blog_posts: ["title", "Five beds", "Six beds"],
  redirects: ["type", "Temporary", "Permanent"],
  coupons: ["name", "Spring", "Autumn"],
  invoices: ["status", "paid", "void"],
  appointments: ["title", "Visit", "Call"]
}

/** A field of each collection that holds a number or a time, and a text that is neither. */
const spoilt: Readonly<Record<string, string>> = {
  contacts: "dateAdded",
  opportunities: "monetaryValue",
  orders: "amount",
  prices: "amount",
  products: "createdAt"
}

/** Ids that a path, a query, a file or a statement could take for something else. The last two would be one file. */
const oddIds = [
  "x/../../y",
  "../../../victim",
  "a?b=c&d#e",
  "it's",
  'q"q',
  "%2e%2e%2f",
  "é\u0301 ü",
  "CON",
  "a/b",
  "a_b"
]

export const spoiltText = "neither here nor there"

export const isPossible = ({ collection, what }: Change): boolean => {
  switch (what) {
    case "spoil":
      return collection in spoilt
    case "stray":
      return ["contacts", "opportunities", "orders", "redirects", "coupons"].includes(collection)
    case "edit":
      return collection in editable
    case "picture":
      return collection === "products"
    case "odd":
      return ["contacts", "opportunities", "orders", "redirects", "products", "invoices"].includes(collection)
    case "restore":
      return ["redirects", "coupons", "products", "orders", "invoices"].includes(collection)
    case "add":
      return !["locations", "users", "calendars", "pipelines", "conversations", "appointments"].includes(collection)
    case "delete":
      return !["locations", "users", "calendars", "submissions"].includes(collection)
  }
}

export const collectionOf = (service: Service, name: string): Collection =>
  service.world[
    name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) as keyof Collections
  ] as Collection

/** Makes the change; returns the ids of the records that it concerns. */
export const make = (
  service: Service,
  { collection: name, count, what }: Change,
  random: () => number
): Array<string> => {
  const collection = collectionOf(service, name)
  const rows = [...collection.live()]
  const touched: Array<string> = []
  for (let left = Math.min(count, rows.length); left > 0; left--) {
    const [row] = rows.splice(Math.floor(random() * rows.length), 1)
    const id = changeOne(service, { collection, name, what }, row!, random)
    if (id !== undefined) touched.push(id)
  }
  return touched
}

/** Deleted records, which a user may restore. */
const removed = new WeakMap<Collection, Array<Entry>>()

interface Place {
  readonly collection: Collection
  readonly name: string
  readonly what: Change["what"]
}

const changeOne = (
  service: Service,
  { collection, name, what }: Place,
  row: Entry,
  random: () => number
): string | undefined => {
  switch (what) {
    case "restore": {
      const restored = removed.get(collection)?.pop()
      if (restored) collection.add(entry({ ...restored }))
      return restored?.id ?? undefined
    }
    case "delete":
      removed.set(collection, [...(removed.get(collection) ?? []), row])
      deleteWithChildren(service, name, collection, row)
      return row.id!
    case "add":
      return add(service, name, collection, row, random) ?? undefined
    case "stray":
      collection.addOrphan(entry({ ...row, id: null, source: { ...collection.data(row), id: null, _id: null } }))
      return undefined
    case "odd": {
      const left = oddIds.filter((one) => collection.get(one) === undefined)
      const id = left[Math.floor(random() * left.length)]
      return id === undefined ? undefined : addCopy(service, collection, row, id)
    }
    case "spoil":
      write(service, name, collection, row, { [spoilt[name]!]: spoiltText })
      return row.id!
    case "picture":
      write(service, name, collection, row, { image: `https://files.example/${random()}.jpg` })
      return row.id!
    case "edit": {
      const [field, ...values] = editable[name]!
      const before = collection.data(row)[field]
      const others = values.filter((value) => value !== before)
      write(service, name, collection, row, { [field]: others[Math.floor(random() * others.length)] })
      return row.id!
    }
  }
}

/** The service dates a change wherever its records have such a date. */
const write = (service: Service, name: string, collection: Collection, row: Entry, fields: Data): void => {
  if (name === "contacts") return void updateContact(service, row, fields)
  if (name === "opportunities") return void updateOpportunity(service, row, fields)
  const data = collection.data(row)
  if ("updatedAt" in data) return void changeRecord(service, collection, row, fields)
  const now = service.clock.now()
  const dated = "dateUpdated" in data ? { dateUpdated: iso(now) } : {}
  collection.replace(row, entry({ ...row, updated: now, source: { ...data, ...fields, ...dated } }))
}

const add = (
  service: Service,
  name: string,
  collection: Collection,
  row: Entry,
  random: () => number
): string | null => {
  const { world } = service
  const pick = (of: Collection): Entry | undefined => {
    const all = [...of.live()]
    return all[Math.floor(random() * all.length)]
  }
  switch (name) {
    case "contacts":
      return createContact(service, { firstName: "New", lastName: String(collection.size), tags: ["new"] }).id
    case "notes":
      return addNote(service, pick(world.contacts)!, { body: "A new note." }).id
    case "messages":
      return addMessage(service, pick(world.conversations)!, 2, { direction: "inbound", body: "Hello." }).id
    case "opportunities": {
      const pipelineId = pick(world.pipelines)!.id
      return createOpportunity(service, { name: "New", pipelineId, status: "open", contactId: row.parent }).id
    }
    default:
      return addCopy(service, collection, row, service.random.hexId(service.clock.now()))
  }
}

/** Adds a record that differs from another one in its id and its dates. */
const addCopy = (service: Service, collection: Collection, row: Entry, id: string): string => {
  const now = service.clock.now()
  const data = collection.data(row)
  const dates = ["createdAt", "updatedAt", "dateAdded", "dateUpdated"].filter((date) => date in data)
  const fields = Object.fromEntries(dates.map((date) => [date, iso(now)]))
  const source = { ...data, ["_id" in data ? "_id" : "id"]: id, ...fields }
  collection.add(entry({ ...row, id, created: now, updated: now, source }))
  return id
}

const childrenOf: Readonly<Record<string, string>> = {
  products: "prices",
  blogs: "blog_posts",
  conversations: "messages",
  pipelines: "opportunities"
}

/** What belongs to a record goes with it. */
const deleteWithChildren = (service: Service, name: string, collection: Collection, row: Entry): void => {
  if (name === "contacts") return deleteContact(service, row)
  const children = childrenOf[name]
  if (children !== undefined) {
    const of = collectionOf(service, children)
    const owned =
      name === "pipelines"
        ? [...of.live()].filter((one) => of.data(one)["pipelineId"] === row.id)
        : [...of.children(row.id!)]
    for (const child of owned) of.remove(child)
  }
  collection.remove(row)
}
