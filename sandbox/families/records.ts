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

export const checkUser = (id: unknown, name: string, { world }: Service): void => {
  checkReference(world.users, id, name)
}

/** The JSON text of an object with the record as the member `name`. */
export const wrapRecord = (name: string, collection: Collection, row: Entry): string =>
  `{"${name}":${collection.full(row)}}`

/** A record without the members that were cleared by a null (A 2.1). */
export const dropNulls = (data: Data): Data =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))

/** Replaces the given fields of a record; a field with the value undefined is removed. */
export const changeRecord = ({ clock }: Service, collection: Collection, old: Entry, fields: Data): Entry => {
  const now = clock.now()
  const source = { ...collection.data(old), ...fields, updatedAt: iso(now) }
  return collection.replace(old, entry({ ...old, updated: now, source }))
}

/** Removes the children of a record. */
export const removeChildren = (collection: Collection, parent: string): void => {
  for (const child of collection.children(parent)) collection.remove(child)
}
