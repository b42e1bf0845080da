import type { Collection, Data, Entry, Filter } from "../../account/collection.ts"
import { slice } from "../../account/position.ts"
import { dayOf } from "../../account/seeded.ts"

/** A page of a list, ordered by issue date, by default latest first (B 4.3). */
export const pageBy = (
  collection: Collection,
  query: Data,
  filter: Filter | undefined
): { texts: string; total: number } => {
  const order = { name: "issueDate", key: (row: Entry) => issueDate(row) }
  const rows = collection.sorted(order, filter)
  const isDescending = query["sortOrder"] !== "ascend"
  const shown = slice(rows, Number(query["offset"] ?? 0), Number(query["limit"] ?? 10), isDescending)
  return { texts: `[${shown.map((row) => collection.list(row)).join(",")}]`, total: rows.length }
}

/** The issue date. That of a seeded record is the day of its creation, so that the record need not be built. */
const issueDate = ({ created, source }: Entry): string =>
  typeof source === "number" ? dayOf(created) : String(source["issueDate"] ?? dayOf(created))
