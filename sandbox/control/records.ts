import { viewOf } from "./record-views.ts"
import { showLinks } from "../files/files.ts"
import { malformed, notFound } from "../http/errors.ts"
import type { Service } from "../service.ts"
import type { World } from "../world.ts"
import { Collection, type Data, type Entry, entry } from "../account/collection.ts"

/**
 * Every record in the form of a single read, one per line. With `?form=list`, the form is that of a list, with the notes,
 * tasks and events of opportunities. With `?strays=1`, the records are those that only lists contain: without an id, or stale.
 */
export const ndjson = (name: string, query: URLSearchParams, service: Service): Iterable<string> => {
  const { world } = service
  const collection = viewOf(camelCase(name), service) ?? collectionOf(name, service)
  if (collection === undefined) throw notFound(`There is no collection ${name}`)
  const isList = query.get("form") === "list"
  const text = (row: Entry): string => {
    if (!isList) return collection.full(row)
    return name === "opportunities" ? JSON.stringify(world.opportunities.data(row)) : collection.list(row)
  }
  // The rows are a snapshot. The lines are built one at a time, because together they may be too long for a string.
  const rows = [...(query.get("strays") === "1" ? collection.orphans() : collection.live())]
  return rows.values().map((row) => `${showLinks(text(row), !isList, service.files)}\n`)
}

/**
 * Adds invalid copies of records to the lists of a collection: without an id, and with the given `fields`. Single reads do
 * not find them.
 */
export const addInvalidCopies = (body: Data, service: Service): Data => {
  const { collection: name, count = 1, fields = {} } = body
  const collection = typeof name === "string" ? collectionOf(name, service) : undefined
  if (collection === undefined) throw malformed("collection must be the name of a collection")
  if (!Number.isInteger(count) || Number(count) < 1 || Number(count) > 1000) throw malformed("count must be 1 to 1000")
  if (typeof fields !== "object" || fields === null) throw malformed("fields must be an object")
  const rows = [...collection.live().take(Number(count))]
  for (const row of rows) {
    const data = collection.data(row)
    const id = "_id" in data ? "_id" : "id"
    collection.addOrphan(entry({ ...row, id: null, source: { ...data, [id]: null, ...fields } }))
  }
  return { poisoned: rows.length }
}

/**
 * Adds a copy of the record `like`, with the given `fields` and a new id: a record as a user of the product could have made
 * it. Its parent is the one that its fields name.
 */
export const addCopy = (body: Data, service: Service): Data => {
  const { collection: name, fields = {}, id, like } = body
  const collection = typeof name === "string" ? collectionOf(name, service) : undefined
  if (collection === undefined) throw malformed("collection must be the name of a collection")
  if (typeof fields !== "object" || fields === null) throw malformed("fields must be an object")
  if (typeof id !== "string" || collection.get(id) !== undefined) throw malformed("id must be a new id")
  const row = typeof like === "string" ? collection.get(like) : undefined
  if (row === undefined) throw notFound(`There is no record ${String(like)} in ${String(name)}`)
  const old = collection.data(row)
  const data: Data = { ...old, ["_id" in old ? "_id" : "id"]: id, ...fields }
  const parentField = Object.keys(old).find((field) => row.parent !== null && old[field] === row.parent)
  const parent = parentField === undefined ? row.parent : String(data[parentField])
  const now = service.clock.now()
  collection.add(entry({ ...row, id, parent, created: row.created, updated: now, source: data }))
  return { planted: id }
}

/** Changes the given `fields` of a record, like a user in the product itself. */
export const edit = (body: Data, service: Service): Data => {
  const { fields = {}, id } = body
  if (typeof fields !== "object" || fields === null) throw malformed("fields must be an object")
  const { collection, row } = recordOf(body, service)
  collection.replace(
    row,
    entry({ ...row, updated: service.clock.now(), source: { ...collection.data(row), ...fields } })
  )
  return { edited: id }
}

/** Removes a record, like a user in the product itself, because the API may have no such operation. */
export const remove = (body: Data, service: Service): Data => {
  const { collection, row } = recordOf(body, service)
  collection.remove(row)
  return { removed: row.id }
}

const recordOf = ({ collection: name, id }: Data, service: Service): { collection: Collection; row: Entry } => {
  const collection = typeof name === "string" ? collectionOf(name, service) : undefined
  if (collection === undefined) throw malformed("collection must be the name of a collection")
  const row = typeof id === "string" ? collection.get(id) : undefined
  if (row === undefined) throw notFound(`There is no record ${String(id)} in ${String(name)}`)
  return { collection, row }
}

/** The collection with this name, in camel case or snake case. */
const collectionOf = (name: string, { world }: Service): Collection | undefined => {
  const camel = camelCase(name)
  const found = world[(camel === "emailTemplateFolders" ? "emailTemplates" : camel) as keyof World]
  return found instanceof Collection ? found : undefined
}

const camelCase = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
