import type { AccountContext } from "../../account/context.ts"
import type { Collection, Data, Entry } from "../../account/collection.ts"
import { iso } from "../../account/clock.ts"
import { listed } from "../../http/pages.ts"
import { type Filter, byCreated } from "../../account/collection.ts"
import { windowOf } from "../../http/lists.ts"
import { type Draw, type Owners, seeded } from "../../account/seeded.ts"

/** What the records of document 3 are made of. */
export interface Parts {
  readonly context: AccountContext
  readonly owners: Owners
  /** The records of another collection. */
  readonly of: (name: string) => Collection
}

export type Make = (parts: Parts) => Collection

/** The streams of document 3 begin here; the number of each collection is its own. */
const firstStream = 200

/** A collection of plain records: `count` of them, or a share of the contacts. */
export const further =
  (
    stream: number,
    count: number | ((parts: Parts) => number),
    build: (draw: Draw, parts: Parts) => Data,
    more: Partial<Omit<Parameters<typeof seeded>[1], "build" | "count" | "stream">> & {
      readonly under?: (parts: Parts, index: number) => string | null
    } = {}
  ): Make =>
  (parts) => {
    const { under, ...rest } = more
    return seeded(parts.context, {
      stream: firstStream + stream,
      count: typeof count === "number" ? count : count(parts),
      ids: "plain",
      build: (draw) => build(draw, parts),
      ...(under && { parent: (index: number) => under(parts, index) }),
      ...rest
    })
  }

/** The timestamps of a record, by the names that its family has. */
export const times = ({ entry }: Draw, created = "createdAt", updated = "updatedAt"): Data => ({
  [created]: iso(entry.created),
  [updated]: iso(entry.updated)
})

/** The id of the row at a place, which begins again after the last one. */
export const idAt = (collection: Collection, index: number): string | undefined => {
  const rows = [...collection.live()]
  return rows[index % Math.max(1, rows.length)]?.id ?? undefined
}

/** The records of one page, newest first, as JSON texts, and the number of all. */
export const pageRows = (collection: Collection, query: Data, filter?: Filter): { texts: string; total: number } => {
  const rows: ReadonlyArray<Entry> = collection.sorted(byCreated, filter).toReversed()
  return { texts: `[${listed(collection, windowOf(query, rows)).join(",")}]`, total: rows.length }
}
