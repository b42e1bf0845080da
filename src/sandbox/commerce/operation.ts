import { randomUUID } from "node:crypto"
import { Refusal } from "../errors.ts"
import type { Answer, Call, Route, Service } from "../route.ts"
import { type Field, type Shape, between, choice, described, integer, required } from "../shape.ts"
import { type Collection, type Data, type Entry, type Filter, byCreated } from "../world/collection.ts"
import { slice } from "../world/position.ts"

/** Where the account is named: `altId` comes with `altType`, which is always `location` (A 2.1). */
type Account = "altId in query" | "altId in body" | "locationId in query" | "locationId in body" | "path"

interface Declared extends Omit<Route, "method" | "path" | "location" | "handle" | "summary"> {
  readonly does: `${Route["method"]} ${string}`
  readonly summary: string
  readonly account: Account
  /** The documents ask for `altId` alone. */
  readonly altTypeOptional?: true
  readonly handle: (asked: Asked, service: Service) => string | Data
}

/** A request that has passed its checks; numbers, flags and lists of the query are what they stand for. */
export interface Asked extends Pick<Call, "body" | "params" | "parts"> {
  readonly query: Data
  readonly traceId: string
}

/** An operation of document 2. */
export const operation = ({ account, altTypeOptional, does, handle, ...declared }: Declared): Route => {
  const [method, path] = does.split(" ") as [Route["method"], string]
  const [name, , place] = account.split(" ") as ["locationId" | "altId", "in", "query" | "body"]
  const location = account === "path" ? ({ in: "path", name: "locationId" } as const) : { in: place, name }
  const altType = altTypeOptional ? choice("location") : required(choice("location"))
  const withType = (at: "query" | "body", shape: Shape | undefined): Shape | undefined =>
    name === "altId" && place === at ? { altType, ...shape } : shape
  const query = withType("query", declared.query)
  const body = withType("body", declared.body) ?? (place === "body" ? {} : undefined)
  return {
    ...declared,
    method,
    path,
    location,
    ...(query !== undefined && { query }),
    ...(body !== undefined && { body }),
    handle: (call, service): Answer => {
      const asked = { ...call, query: queried(query ?? {}, call), body: sent(body ?? {}, call) }
      return { body: handle({ ...asked, traceId: randomUUID() }, service) }
    }
  }
}

/** Null stands for absent, but for the members that may be anything. */
const sent = (shape: Shape, { body }: Call): Data => {
  const members = Object.entries(body).filter(([name, value]) => value !== null || shape[name]?.type === "any")
  return Object.fromEntries(
    members.map(([name, value]) => [name, shape[name]?.type === "any" ? value : withoutNulls(value)])
  )
}

const withoutNulls = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(withoutNulls)
  const members = Object.entries(value).filter(([, own]) => own !== null)
  return Object.fromEntries(members.map(([name, own]) => [name, withoutNulls(own)]))
}

const queried = (shape: Shape, { query }: Call): Data =>
  Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, queriedValue(field, name, query)]))

const queriedValue = ({ type }: Field, name: string, query: URLSearchParams): unknown => {
  const sent = query.get(name) ?? ""
  if (type === "array") {
    const items = [...query.getAll(name), ...query.getAll(`${name}[]`)].flatMap((item) => item.split(","))
    return items.length === 0 ? undefined : items.map((item) => item.trim())
  }
  if (sent === "") return undefined
  return type === "integer" || type === "number" ? Number(sent) : type === "boolean" ? sent === "true" : sent
}

/** `limit` and `offset` (or `skip`). The documents give few maximums; 100 is what every known client stays below. */
export const paging = (fallback: number, most = 100, start = "offset"): Shape => ({
  limit: described(between(integer, 1, most), `Default ${fallback}.`),
  [start]: described(between(integer, 0), "Default 0.")
})

/** Required: missing is 422. */
export const requiredPaging = (start = "offset"): Shape => ({
  limit: required(between(integer, 1, 100)),
  [start]: required(between(integer, 0))
})

/** The rows of the page a query asks for. */
export const windowOf = <T>({ limit = 10, offset, skip }: Data, rows: ReadonlyArray<T>): ReadonlyArray<T> => {
  const start = Number(offset ?? skip ?? 0)
  return rows.slice(start, start + Number(limit))
}

/** 409: the state a record is in does not allow it (A 7). */
export const conflict = (message: string): Refusal => new Refusal(409, message)

/** The members that were sent. */
export const given = (values: Data): Data =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

/** Whether one of the texts holds what is searched for, in any case; nothing is asked for by an absent search. */
export const holds = (search: unknown, ...texts: ReadonlyArray<unknown>): boolean =>
  search === undefined ||
  texts.some((own) =>
    String(own ?? "")
      .toLowerCase()
      .includes(String(search).toLowerCase())
  )

/** Rows in order of creation: the children of a parent come as they were last written. */
export const byAge = (rows: ReadonlyArray<Entry>): ReadonlyArray<Entry> =>
  rows.toSorted((a, b) => a.created - b.created || ((a.id ?? "") < (b.id ?? "") ? -1 : 1))

/** A filter by the named members of the query; none when none of them is asked for, so that no record is built. */
export const filterBy = (query: Data, names: string, test: Filter["test"]): Filter | undefined => {
  const asked = names.split(" ").map((name) => query[name])
  return asked.every((value) => value === undefined) ? undefined : { key: JSON.stringify([names, asked]), test }
}

/** A list of documents that give it no order: newest first. The page a query asks for, as JSON texts, and the total. */
export const pageNewest = (
  collection: Pick<Collection, "sorted" | "list">,
  query: Data,
  filter?: Filter
): { texts: string; total: number } => {
  const rows = collection.sorted(byCreated, filter)
  const { limit = 10, offset, skip } = query
  const shown = slice(rows, Number(offset ?? skip ?? 0), Number(limit), true)
  return { texts: `[${shown.map((row) => collection.list(row)).join(",")}]`, total: rows.length }
}
