import type { Entry, Order } from "./collection.ts"

/** Where the entries with `key` (and, if given, `id`) begin, or end with `after`, in a list sorted ascending by `order`. */
export const position = (
  rows: ReadonlyArray<Entry>,
  order: Order,
  key: number | string,
  id?: string,
  after = false
): number => {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const sign = compare(rows[middle]!, order, key, id)
    if (sign < 0 || (after && sign === 0)) low = middle + 1
    else high = middle
  }
  return low
}

/** The sort value and id of the last record of a page. */
export type Cursor = readonly [key: number | string, id: string]

/** The position after the record that a cursor names, even if the record was deleted. */
export const startAfter = (rows: ReadonlyArray<Entry>, order: Order, [key, id]: Cursor, descending: boolean): number =>
  descending ? rows.length - position(rows, order, key, id) : position(rows, order, key, id, true)

/** Rows `start` to `start + size` in the given direction; a descending list is read from its end. */
export const slice = (
  rows: ReadonlyArray<Entry>,
  start: number,
  size: number,
  descending: boolean
): ReadonlyArray<Entry> => {
  if (!descending) return rows.slice(start, start + size)
  const end = rows.length - start
  return end <= 0 ? [] : rows.slice(Math.max(0, end - size), end).toReversed()
}

const compare = (entry: Entry, order: Order, key: number | string, id: string | undefined): number => {
  const own = order.key(entry)
  if (own !== key) return own < key ? -1 : 1
  if (id === undefined || (entry.id ?? "") === id) return 0
  return (entry.id ?? "") < id ? -1 : 1
}
