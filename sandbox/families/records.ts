import { iso } from "../account/clock.ts"
import { type Collection, type Data, type Entry, entry } from "../account/collection.ts"
import { type HttpError, invalid, notFound } from "../http/errors.ts"
import type { Service } from "../service.ts"

/** The record with the id of a path. Throws 404 if there is none, or it was deleted (A 7). */
export const find = (collection: Collection, id: unknown, kind: string): Entry => {
  const row = collection.get(String(id))
  if (row === undefined) throw notFoundById(kind, id)
  return row
}

export const notFoundById = (kind: string, id: unknown): HttpError =>
  notFound(`${kind} with id ${String(id)} not found`)

/** The record to which a body or a query refers. Throws 422 if there is none (A 7). */
export const requireReference = (collection: Collection, id: unknown, name: string): Entry => {
  const row = typeof id === "string" ? collection.get(id) : undefined
  if (row === undefined) throw invalid(`${name} is not valid`)
  return row
}

/** The record of an optional reference. Throws 422 if the reference is sent and there is no such record. */
export const checkReference = (collection: Collection, id: unknown, name: string): Entry | undefined =>
  id === undefined || id === null || id === "" ? undefined : requireReference(collection, id, name)

/** Checks a list of references. Throws 422 for an id that is empty or unknown. */
export const checkReferences = (collection: Collection, ids: unknown, name: string): void =>
  ((ids ?? []) as ReadonlyArray<string>).forEach((id, place) => {
    requireReference(collection, id, `${name}.${place}`)
  })

export const checkUser = (id: unknown, name: string, { world }: Service): void => {
  checkReference(world.users, id, name)
}

/** The JSON text of an object with the record as the member `name`, and the members of `more`. */
export const wrapRecord = (name: string, collection: Collection, row: Entry, more: Data = {}): string => {
  const rest = JSON.stringify(more)
  return `{"${name}":${collection.full(row)}${rest === "{}" ? "}" : `,${rest.slice(1)}`}`
}

/** A record without the members that were cleared by a null (A 2.1). */
export const dropNulls = (data: Data): Data =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))

export const dropUndefined = (data: Data): Data =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined))

/** Adds a record with the current time. Its key is `_id`, or `id` for the resources for which the documents say so. */
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

/** Replaces the given fields of a record; a field with the value undefined is removed. */
export const changeRecord = ({ clock }: Service, collection: Collection, old: Entry, fields: Data): Entry => {
  const now = clock.now()
  const source = { ...collection.data(old), ...fields, updatedAt: iso(now) }
  return collection.replace(old, entry({ ...old, updated: now, source }))
}

/** Replaces a record, except its key, its time of creation and the named fields. */
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

/** Removes the children of a record. */
export const removeChildren = (collection: Collection, parent: string): void => {
  for (const child of collection.children(parent)) collection.remove(child)
}
