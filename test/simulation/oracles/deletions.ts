/** Nothing that exists is marked deleted, and no run removes more than docs/tables.md says. */
import { simulatedOf } from "../catalogue.ts"
import type { Stage } from "../run.ts"
import type { Account } from "./rows.ts"
import type { State } from "./state.ts"

/** Rows that the service flags as deleted are marked, as docs/tables.md says, although their record exists. */
const isFlagged = (record: Readonly<Record<string, unknown>>) =>
  String(record["deleted"]) === "true" || record["status"] === "deleted"

/**
 * `account`: as it is after the run, so that what was deleted while the run read may be marked. `isBelieved`: for a list whose records cannot be asked for, a second reading that agrees is all the proof there can be: a
 * service that leaves the same records out twice takes up to a third of them along.
 */
export const nothingAliveIsDeleted = (
  { services, world }: Stage,
  account: Account,
  before: State,
  after: State,
  isBelieved: boolean
): ReadonlyArray<string> =>
  world.collections.flatMap((collection) => {
    const { resource } = simulatedOf(collection)
    if (isBelieved && !resource.getOne) return []
    const earlier = before.rows.get(resource.table)!
    return [...after.rows.get(resource.table)!].flatMap(([key, row]) => {
      if (row.deleted === null || earlier.get(key)?.deleted != null) return []
      const index = services.findIndex(({ location }) => location === row.location)
      const record = account[index]?.get(collection)?.get(row.id)
      return record === undefined || isFlagged(record) || row.row["deleted"] === true
        ? []
        : [`${resource.table} ${row.id} exists, and is marked deleted`]
    })
  })

/** Lists that belong to no parent: what they lose is decided about by their own readings alone. */
const ownLists = [
  "contacts",
  "redirects",
  "coupons",
  "products",
  "invoices",
  "orders",
  "customFields",
  "pipelines",
  "blogs"
]
/** How many rows of a table one run may mark deleted. */
export const allowedOf = (rows: number, share: number, canBeAsked: boolean, always = 20): number =>
  Math.max(canBeAsked ? always : Math.min(always, Math.floor(rows / 3)), rows * share)

const liveOf = (state: State, table: string, location: string) =>
  state.rows
    .get(table)!
    .values()
    .filter((row) => row.location === location && row.deleted === null)
    .toArray()

export const shareIsKept = (
  { services, world }: Stage,
  before: State,
  after: State,
  share: number
): ReadonlyArray<string> =>
  services.flatMap(({ location }) =>
    world.collections
      .filter((one) => ownLists.includes(one))
      .flatMap((collection) => {
        const { table, getOne } = simulatedOf(collection).resource
        const live = liveOf(before, table, location)
        const now = after.rows.get(table)!
        const deleted = live.filter((row) => now.get(`${row.location} ${row.id}`)!.deleted !== null).length
        const added = liveOf(after, table, location).length + deleted - live.length
        const allowed = allowedOf(
          live.length + Math.max(0, added),
          share,
          getOne !== undefined,
          world.small?.extract?.deletedRows
        )
        return deleted > allowed
          ? [`${table}: ${deleted} of ${live.length} rows were marked deleted, allowed are ${allowed}`]
          : []
      })
  )

/** A full run in which nothing was disturbed marks what is gone, if that is not too much, and nothing if it is. */
export const goneAreDeleted = (
  { services, world }: Stage,
  account: Account,
  before: State,
  after: State,
  share: number
): ReadonlyArray<string> =>
  services.flatMap(({ location }, index) =>
    world.collections
      .filter((one) => ["redirects", "contacts"].includes(one))
      .flatMap((collection) => {
        const { table, getOne } = simulatedOf(collection).resource
        const live = liveOf(before, table, location)
        const records = account[index]!.get(collection)!
        const gone = live.filter(({ id }) => !records.has(id))
        const allowed = allowedOf(live.length, share, getOne !== undefined, world.small?.extract?.deletedRows)
        const now = after.rows.get(table)!
        const marked = gone.filter((row) => now.get(`${row.location} ${row.id}`)!.deleted !== null).length
        const expected = gone.length <= allowed ? gone.length : 0
        return marked === expected
          ? []
          : [
              `${table}: ${gone.length} of ${live.length} records are gone, allowed are ${allowed}, and ${marked} were marked deleted`
            ]
      })
  )
