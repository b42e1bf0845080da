import { viewOf } from "./record-views.ts"
import { malformed, notFound } from "../http/errors.ts"
import type { Service } from "../service.ts"
import type { World } from "../world.ts"
import { Collection, type Data, type Entry, entry } from "../account/collection.ts"

/**
 * Every live record in the form a read of it alone shows, one per line. `?form=list` shows the list form, with the
 * notes, tasks and events of opportunities; `?strays=1` what only lists show: records without an id, stale copies.
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
  // Taken whole before the first line is sent; the lines are sent one by one, because together they can be too long.
  const rows = [...(query.get("strays") === "1" ? collection.orphans() : collection.live())]
  return rows.values().map((row) => `${text(row)}\n`)
}

/**
 * Puts copies of records into the lists of a collection that break what reads them: without an id, or as `fields` says.
 * No read by id finds them.
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

/** Removes one record, as somebody does in the product itself where the API has no such operation. */
export const remove = (body: Data, service: Service): Data => {
  const { collection: name, id } = body
  const collection = typeof name === "string" ? collectionOf(name, service) : undefined
  if (collection === undefined) throw malformed("collection must be the name of a collection")
  const row = typeof id === "string" ? collection.get(id) : undefined
  if (row === undefined) throw notFound(`There is no record ${String(id)} in ${String(name)}`)
  collection.remove(row)
  return { removed: id }
}

/** The collection of that name, in camel case or with underscores. */
const collectionOf = (name: string, { world }: Service): Collection | undefined => {
  const camel = camelCase(name)
  const found = world[(camel === "emailTemplateFolders" ? "emailTemplates" : camel) as keyof World]
  return found instanceof Collection ? found : undefined
}

const camelCase = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
