import { type Shape, between, described, integer, required } from "./shape.ts"
import { type Collection, type Data, type Entry, type Filter, byCreated } from "../account/collection.ts"
import { slice } from "../account/position.ts"

/** The parameters `limit` and `offset` or `skip`. The documents give few maximums; no known client requests more than 100. */
export const paging = (fallback: number, maximum = 100, start = "offset"): Shape => ({
  limit: described(between(integer, 1, maximum), `Default ${fallback}.`),
  [start]: described(between(integer, 0), "Default 0.")
})

/** The same parameters, both required: the response to a request without them is 422. */
export const requiredPaging = (start = "offset"): Shape => ({
  limit: required(between(integer, 1, 100)),
  [start]: required(between(integer, 0))
})

/** The rows of the requested page. */
export const windowOf = <T>({ limit = 10, offset, skip }: Data, rows: ReadonlyArray<T>): ReadonlyArray<T> => {
  const start = Number(offset ?? skip ?? 0)
  return rows.slice(start, start + Number(limit))
}

/** Whether one of the texts contains the search text, in any case. Without a search text, every text matches. */
export const containsText = (search: unknown, ...texts: ReadonlyArray<unknown>): boolean =>
  search === undefined ||
  texts.some((own) =>
    String(own ?? "")
      .toLowerCase()
      .includes(String(search).toLowerCase())
  )

/** Rows in order of creation, for children, which a collection keeps in the order of their last change. */
export const oldestFirst = (rows: ReadonlyArray<Entry>): ReadonlyArray<Entry> =>
  rows.toSorted((a, b) => a.created - b.created || ((a.id ?? "") < (b.id ?? "") ? -1 : 1))

/** A filter by the named members of the query; undefined if none of them was sent, so that no record needs to be built. */
export const filterBy = (query: Data, names: string, test: Filter["test"]): Filter | undefined => {
  const sent = names.split(" ").map((name) => query[name])
  return sent.every((value) => value === undefined) ? undefined : { key: JSON.stringify([names, sent]), test }
}

/** A page of a list without a documented order, newest first: the records as JSON text, and the total. */
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
