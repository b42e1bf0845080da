import { invalid, notFound } from "../errors.ts"
import type { Service } from "../route.ts"
import type { Collection, Data, Entry } from "../world/collection.ts"

/** The record a path names; 404 when there is none, or it has been deleted (A 7). */
export const found = (collection: Collection, id: string | undefined, what: string): Entry => {
  const row = collection.get(id ?? "")
  if (row === undefined) throw notFound(`${what} with id ${id} not found`)
  return row
}

/** A record a body or a query refers to; a bad reference is a 422 (A 7). */
export const referred = (collection: Collection, id: unknown, name: string): Entry => {
  const row = typeof id === "string" ? collection.get(id) : undefined
  if (row === undefined) throw invalid(`${name} is not valid`)
  return row
}

/** Refuses an id that is sent and is no user's. */
export const checkedUser = (id: unknown, name: string, { world }: Service): void => {
  if (id !== undefined && id !== null && id !== "") referred(world.users, id, name)
}

/** JSON text of a record under its wrapper. */
export const wrapped = (name: string, collection: Collection, row: Entry, more: Data = {}): string => {
  const rest = JSON.stringify(more)
  return `{"${name}":${collection.full(row)}${rest === "{}" ? "}" : `,${rest.slice(1)}`}`
}

/** A record without what a null has cleared: what is not set does not appear (A 2.1). */
export const present = (data: Data): Data =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))
