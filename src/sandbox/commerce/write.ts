import { iso } from "../clock.ts"
import { invalid, notFound, type Refusal } from "../errors.ts"
import type { Service } from "../route.ts"
import { type Collection, type Data, type Entry, entry } from "../world/collection.ts"

/** Reading, making and changing one record of any collection of document 2. */

/** An unknown id, and that of a deleted record, is 404 (A 7). */
export const find = (collection: Collection, id: unknown, what: string): Entry => {
  const found = collection.get(String(id))
  if (found === undefined) throw unknown(what, id)
  return found
}

export const unknown = (what: string, id: unknown): Refusal => notFound(`${what} with id ${String(id)} not found`)

/** A record that another one names: an unknown one is a bad reference, 422 (A 7). */
export const refer = (collection: Collection, id: unknown, name: string): Entry | undefined => {
  if (id === undefined || id === null || id === "") return undefined
  const found = collection.get(String(id))
  if (found === undefined) throw invalid(`${name} is not valid`)
  return found
}

/** The same for a list of ids, where an empty text is no id either. */
export const referAll = (collection: Collection, ids: unknown, name: string): void =>
  ((ids ?? []) as ReadonlyArray<string>).forEach((id, place) => {
    if (collection.get(id) === undefined) throw invalid(`${name}.${place} is not valid`)
  })

/** A new record, dated now. Its key is `_id`, or `id` where the documents say so. */
export const addRecord = (
  { clock, random }: Service,
  collection: Collection,
  fields: Data,
  { kind = 0, parent = null, plain = false }: { kind?: number; parent?: string | null; plain?: boolean } = {}
): Entry => {
  const now = clock.now()
  const id = plain ? random.id() : random.hexId(now)
  const source = { [plain ? "id" : "_id"]: id, ...fields, createdAt: iso(now), updatedAt: iso(now) }
  return collection.add(entry({ id, kind, parent, created: now, source }))
}

/** The record with the given fields instead of its own; what is undefined goes. */
export const changeRecord = ({ clock }: Service, collection: Collection, old: Entry, fields: Data): Entry => {
  const now = clock.now()
  const source = { ...collection.data(old), ...fields, updatedAt: iso(now) }
  return collection.replace(old, entry({ ...old, updated: now, source }))
}

/** The record anew: of the old one only its key, the named fields and its date of creation stay. */
export const replaceRecord = (
  { clock }: Service,
  collection: Collection,
  old: Entry,
  fields: Data,
  kept: ReadonlyArray<string>
): Entry => {
  const now = clock.now()
  const data = collection.data(old)
  const stays = ["_id", "id", ...kept, "createdAt"].filter((name) => data[name] !== undefined)
  const source = { ...Object.fromEntries(stays.map((name) => [name, data[name]])), ...fields, updatedAt: iso(now) }
  return collection.replace(old, entry({ ...old, updated: now, source }))
}

/** Everything below a record goes with it. */
export const removeChildren = (collection: Collection, parent: string): void => {
  for (const child of collection.children(parent)) collection.remove(child)
}
